/**
 * `<prooftrail-events token="…">`: a table of events for a page of the customer's own. Everything is in its shadow root, its style is a
 * constructed sheet, and all text is set as text: so it works under any Content-Security-Policy that allows this script and its service.
 */

interface Shown {
  readonly event_id: string;
  readonly timestamp: string;
  readonly label: string;
  readonly event_type: string;
  readonly asset_id: string;
}

type Answer =
  | { readonly kind: "page"; readonly rows: readonly Shown[]; readonly next: string | null }
  | { readonly kind: "ended" | "refused" | "failed" };

const WORDS = {
  en: {
    caption: "Events",
    time: "Time",
    what: "What",
    system: "System",
    older: "Older",
    newest: "Newest",
    again: "Try again",
    loading: "Loading…",
    empty: "No events yet.",
    ended: "This view has expired. Load the page again.",
    refused: "This page may not show these events.",
    failed: "The events could not be loaded.",
  },
  ko: {
    caption: "이벤트",
    time: "시각",
    what: "내용",
    system: "시스템",
    older: "이전",
    newest: "최신",
    again: "다시 시도",
    loading: "불러오는 중…",
    empty: "아직 이벤트가 없습니다.",
    ended: "표시 기간이 끝났습니다. 페이지를 다시 불러오세요.",
    refused: "이 페이지에서는 이 이벤트를 표시할 수 없습니다.",
    failed: "이벤트를 불러오지 못했습니다.",
  },
} as const;

/** The script stands beside the API, behind whatever path prefix it was loaded from. */
const EVENTS =
  document.currentScript instanceof HTMLScriptElement
    ? new URL("./v1/embed/events", document.currentScript.src).href
    : "./v1/embed/events";

/** Each text colour has 4.5:1 on its ground (WCAG 1.4.3). A page sets the properties on the element to use its own. */
const STYLE = `
:host { display: block; color-scheme: light dark; container-type: inline-size;
  --ink: var(--prooftrail-ink, light-dark(#1b1e22, #e9e7e1));
  --quiet: var(--prooftrail-quiet, light-dark(#51565e, #b4b7bc));
  --paper: var(--prooftrail-paper, light-dark(#fff, #1b1e23));
  --line: var(--prooftrail-line, light-dark(#e3e0d8, #2b2f36));
  --accent: var(--prooftrail-accent, light-dark(#0a5c5a, #5cc2bb));
  color: var(--ink); background: var(--paper); padding: 12px; border: 1px solid var(--line); border-radius: 6px;
  font: 14px/1.5 system-ui, "Noto Sans KR", "Apple SD Gothic Neo", "Malgun Gothic", sans-serif; }
:host([hidden]) { display: none }
:host([scheme="light"]) { color-scheme: light }
:host([scheme="dark"]) { color-scheme: dark }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
caption { text-align: start; font-weight: 600; padding-bottom: 8px }
th, td { text-align: start; vertical-align: baseline; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere }
th { color: var(--quiet); font-weight: 400 }
time { white-space: nowrap }
p { margin: 0; color: var(--quiet) }
nav { display: flex; gap: 12px; margin-top: 8px }
button { font: inherit; color: var(--accent); background: none; border: 1px solid currentColor; border-radius: 6px;
  padding: 4px 12px; min-height: 32px; cursor: pointer }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
@container (max-width: 420px) { th, td { padding-right: 8px } time { white-space: normal } }
`;

class ProoftrailEvents extends HTMLElement {
  static readonly observedAttributes = ["token", "lang", "rows", "label"];
  readonly #root = this.attachShadow({ mode: "open" });
  #controller = new AbortController();

  connectedCallback(): void {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    this.#root.adoptedStyleSheets = [sheet];
    this.#load();
  }

  disconnectedCallback(): void {
    this.#controller.abort();
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#load();
  }

  /** The language of the element, or of the page. */
  get #language(): keyof typeof WORDS {
    const named = this.closest("[lang]")?.getAttribute("lang") ?? "en";
    return named.toLowerCase().startsWith("ko") ? "ko" : "en";
  }

  async #load(cursor?: string): Promise<void> {
    this.#controller.abort();
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    if (this.#root.childElementCount === 0) this.#say("loading");
    const answer = await this.#ask(signal, cursor);
    if (signal.aborted) return;
    if (answer.kind !== "page") {
      // For a page that has another token at hand.
      if (answer.kind === "ended") this.dispatchEvent(new Event("prooftrail-token-ended"));
      if (!signal.aborted) this.#say(answer.kind, answer.kind === "failed" ? cursor : null);
    } else if (answer.rows.length === 0) this.#say("empty");
    else this.#show(answer.rows, { cursor, next: answer.next });
  }

  async #ask(signal: AbortSignal, cursor: string | undefined): Promise<Answer> {
    const query = new URLSearchParams({ lang: this.#language });
    const rows = this.getAttribute("rows");
    if (rows) query.set("limit", rows);
    if (cursor !== undefined) query.set("cursor", cursor);
    try {
      const response = await fetch(`${EVENTS}?${query}`, {
        headers: { authorization: `Bearer ${this.getAttribute("token") ?? ""}` },
        credentials: "omit",
        signal,
      });
      if (response.status === 401) return { kind: "ended" };
      if (response.status === 403) return { kind: "refused" };
      if (!response.ok) return { kind: "failed" };
      const { data, next_cursor: next } = await response.json();
      return { kind: "page", rows: data, next };
    } catch {
      return { kind: "failed" };
    }
  }

  /** `cursor`: of the page to try again; null for what trying again does not help. */
  #say(
    word: "loading" | "empty" | "ended" | "refused" | "failed",
    cursor: string | undefined | null = null,
  ): void {
    const words = WORDS[this.#language];
    const text = element("p", words[word]);
    text.setAttribute("role", word === "loading" || word === "empty" ? "status" : "alert");
    this.#root.replaceChildren(text);
    if (cursor === null) return;
    const nav = element("nav");
    nav.append(this.#button(words.again, cursor));
    this.#root.append(nav);
  }

  #show(
    rows: readonly Shown[],
    { cursor, next }: { readonly cursor: string | undefined; readonly next: string | null },
  ): void {
    const language = this.#language;
    const words = WORDS[language];
    const format = new Intl.DateTimeFormat(language === "ko" ? "ko-KR" : "en-GB", {
      dateStyle: "medium",
      timeStyle: "short",
    });
    const table = element("table");
    table.createCaption().textContent = this.getAttribute("label") ?? words.caption;
    const head = table.createTHead().insertRow();
    for (const title of [words.time, words.what, words.system]) {
      const cell = element("th", title);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    for (const { timestamp, label, event_type, asset_id } of rows) {
      const row = body.insertRow();
      const time = element("time", format.format(new Date(timestamp)));
      time.dateTime = timestamp;
      row.insertCell().append(time);
      const what = row.insertCell();
      what.textContent = label;
      what.title = event_type;
      const system = row.insertCell();
      system.textContent = asset_id;
      system.dir = "auto";
    }
    const nav = element("nav");
    nav.setAttribute("aria-label", words.caption);
    if (cursor !== undefined) nav.append(this.#button(words.newest, undefined));
    if (next !== null) nav.append(this.#button(words.older, next));
    const hadFocus = this.#root.activeElement !== null;
    this.#root.replaceChildren(table, ...(nav.childElementCount > 0 ? [nav] : []));
    // The button that was used is gone, and the keyboard must not begin at the top of the page again.
    if (hadFocus) nav.querySelector("button")?.focus();
  }

  #button(text: string, cursor: string | undefined): HTMLButtonElement {
    const button = element("button", text);
    button.type = "button";
    button.addEventListener("click", () => this.#load(cursor));
    return button;
  }
}

const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text = "",
): HTMLElementTagNameMap[Name] => {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
};

if (!customElements.get("prooftrail-events")) customElements.define("prooftrail-events", ProoftrailEvents);
