/** The page at /sandbox. It runs in the browser and uses only the sandbox's endpoints, like every client. */
import { DOMAINS } from "../../law/classification/domains.ts";
import { AI_TYPES, AUTONOMIES, IMPACTS } from "../../law/classification/vocabulary.ts";

import { verifyProof } from "../../proof/evidence/verify-proof.ts";

const REFRESH_MS = 5_000;
const DECISION_MADE = "decision.automated_decision_made";
const EVENT_TYPES = [
  DECISION_MADE,
  "transparency.notice_shown",
  "objection.received",
  "objection.acknowledged",
  "decision.explanation_provided",
  "decision.human_review_completed",
  "incident.detected",
];

interface Asset {
  readonly asset_id: string;
  readonly name: string;
  readonly intended_purpose: string;
  readonly risk_tier: string;
  readonly legal_bases: readonly string[];
  readonly profile: Readonly<Record<string, string | boolean>>;
}
interface Classification {
  readonly risk_tier: string;
  readonly reasoning: string;
  readonly cited_clauses: readonly {
    legal_basis: string;
    ref: string;
    title: string;
    applies_from: string;
  }[];
  readonly obligations: readonly {
    code: string;
    force: string;
    cadence: string;
    deadline: string | null;
    event_types: readonly string[];
  }[];
  readonly matched_rules: readonly string[];
  readonly warnings: readonly { message: string }[];
}
interface SandboxEvent {
  readonly sequence: number;
  readonly received_at: string;
  readonly expires_at: string;
  readonly event: { readonly event_id: string; readonly event_type: string; readonly asset_id: string };
}

interface Dossier {
  readonly missing: readonly string[];
  readonly pending: readonly string[];
  readonly obligations: readonly {
    rule: string;
    state: string;
    due_at: string;
    duty: string | null;
    clause: string | null;
  }[];
  readonly timeline: readonly { at: string; event: { event_type: string } }[];
}
interface Proof {
  readonly checkpoint: string;
}

const byId = <Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind => {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
};

type Content = string | Node;

/** Inserts text only: nothing that was sent becomes markup. */
const element = (
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...content: Content[]
): HTMLElement => {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...content);
  return made;
};

const words = (name: string): string => name.replaceAll("_", " ");

const fillSelect = (
  id: string,
  names: readonly string[],
  label: (name: string) => string,
): HTMLSelectElement => {
  const select = byId(id, HTMLSelectElement);
  select.replaceChildren(...names.map((name) => element("option", { value: name }, label(name))));
  return select;
};

const domain = fillSelect("domain", Object.keys(DOMAINS), words);
const aiType = fillSelect("ai_type", AI_TYPES, words);
const autonomy = fillSelect("decision_autonomy", AUTONOMIES, words);
const impact = fillSelect("user_impact", IMPACTS, words);
const hasPersonalData = byId("processes_personal_data", HTMLInputElement);
const eventType = fillSelect("event_type", EVENT_TYPES, (name) => name);
const eventAsset = byId("event_asset", HTMLSelectElement);
const sendButton = byId("send_button", HTMLButtonElement);

/** The answer, or a sentence that says why there is none. */
const ask = async <Data>(path: string, body?: unknown): Promise<Data | string> => {
  try {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await fetch(`./v1/sandbox${path}`, body === undefined ? {} : init);
    const answer = await response.json();
    if (response.ok) return answer.data;
    const errors: { message: string }[] = answer.errors ?? [];
    const waitSeconds = response.headers.get("retry-after");
    const advice = waitSeconds === null ? [] : [`Try again in ${waitSeconds} s.`];
    return [answer.detail, ...errors.map(({ message }) => message), ...advice].join(" ");
  } catch {
    return "The sandbox cannot be reached.";
  }
};

const isText = (value: unknown): value is string => typeof value === "string";

const say = (target: HTMLElement, text: string, kind: "status" | "alert"): void =>
  target.replaceChildren(element("p", { role: kind, class: kind === "alert" ? "error" : "done" }, text));

const showClassification = (target: HTMLElement, answer: Classification): void => {
  const { risk_tier, reasoning, cited_clauses, obligations, warnings, matched_rules } = answer;
  target.replaceChildren(
    element("p", { class: `tier ${risk_tier}` }, "Risk tier: ", element("strong", {}, risk_tier)),
    element("p", {}, reasoning),
    ...warnings.map(({ message }) => element("p", { class: "warning" }, message)),
    element("h3", {}, "Laws behind it"),
    cited_clauses.length === 0
      ? element("p", {}, "None.")
      : element(
          "ul",
          {},
          ...cited_clauses.map(({ title, ref, applies_from }) =>
            element("li", {}, `${title}: ${ref}, applies from ${applies_from}`),
          ),
        ),
    element("h3", {}, "What they require, and the events that are evidence of it"),
    obligations.length === 0
      ? element("p", {}, "Nothing.")
      : element(
          "ul",
          { class: "obligations" },
          ...obligations.map(({ code, force, cadence, deadline, event_types }) =>
            element(
              "li",
              {},
              element("strong", {}, words(code)),
              ` (${force}): ${cadence}${deadline === null ? "" : `; ${deadline}`}`,
              ...(event_types.length > 0 ? [element("code", {}, event_types.join(", "))] : []),
            ),
          ),
        ),
    element("p", { class: "small" }, `Rules: ${matched_rules.join(", ") || "none"}.`),
  );
};

const classifyForm = byId("classify", HTMLFormElement);
const result = byId("classification", HTMLElement);
let classifications = 0;

classifyForm.addEventListener("submit", async (submission) => {
  submission.preventDefault();
  const asked = ++classifications;
  const answer = await ask<Classification>("/classify", {
    domain: domain.value,
    ai_type: aiType.value,
    decision_autonomy: autonomy.value,
    user_impact: impact.value,
    processes_personal_data: hasPersonalData.checked,
  });
  // Answers may overtake each other; only the answer to the last request is shown.
  if (asked !== classifications) return;
  if (isText(answer)) say(result, answer, "alert");
  else showClassification(result, answer);
});

let assets: readonly Asset[] = [];

const useProfile = ({ profile }: Asset): void => {
  domain.value = String(profile.domain);
  aiType.value = String(profile.ai_type);
  autonomy.value = String(profile.decision_autonomy);
  impact.value = String(profile.user_impact);
  hasPersonalData.checked = profile.processes_personal_data === true;
  classifyForm.requestSubmit();
};

const showAssets = async (): Promise<void> => {
  const answer = await ask<readonly Asset[]>("/assets");
  if (isText(answer)) return say(byId("examples", HTMLElement), answer, "alert");
  assets = answer;
  byId("examples", HTMLElement).replaceChildren(
    ...assets.map((asset) => {
      const button = element("button", { type: "button", title: asset.intended_purpose }, asset.name);
      button.addEventListener("click", () => useProfile(asset));
      return button;
    }),
  );
  eventAsset.replaceChildren(
    ...assets.map(({ asset_id, name }) => element("option", { value: asset_id }, `${name} (${asset_id})`)),
  );
  sendButton.disabled = false;
};

/** The decision that the last events were about. */
let decisionId = "";
const sent = byId("sent", HTMLElement);

byId("send", HTMLFormElement).addEventListener("submit", async (submission) => {
  submission.preventDefault();
  const asset = assets.find(({ asset_id }) => asset_id === eventAsset.value);
  if (eventType.value === DECISION_MADE || decisionId === "")
    decisionId = newEventId().replace("evt_", "dec_");
  const event = {
    event_id: newEventId(),
    timestamp: new Date().toISOString(),
    asset_id: eventAsset.value,
    event_type: eventType.value,
    metadata: {
      decision_id: decisionId,
      ...(eventType.value === DECISION_MADE && { outcome: "denied" }),
    },
    ...(asset && { risk_tier: asset.risk_tier, legal_bases: asset.legal_bases }),
  };
  const answer = await ask<{ event_id: string; sequence: number; expires_at: string }>("/events", event);
  if (isText(answer)) return say(sent, answer, "alert");
  say(sent, `Accepted as ${answer.event_id}. It expires at ${time(answer.expires_at)}.`, "status");
  await Promise.all([showEvents(), showStory(decisionId, answer)]);
});

/** Without randomUUID, which browsers provide only on https and localhost. */
const newEventId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `evt_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};

const time = (text: string): string => new Date(text).toLocaleTimeString();

const story = byId("story", HTMLElement);

const showStory = async (
  decision: string,
  { event_id, sequence }: { readonly event_id: string; readonly sequence: number },
): Promise<void> => {
  const [dossier, proof] = await Promise.all([
    ask<Dossier>(`/decisions/${decision}`),
    ask<Proof>(`/events/${event_id}/proof?sequence=${sequence}`),
  ]);
  if (decision !== decisionId) return;
  if (isText(dossier)) return say(story, dossier, "alert");
  if (isText(proof)) return say(story, proof, "alert");
  story.replaceChildren(
    element("h3", {}, "The file of the decision"),
    element("p", {}, element("code", {}, decision)),
    listOf(dossier.timeline, ({ at, event }) => [element("strong", {}, event.event_type), ` at ${time(at)}`]),
    ...[...dossier.missing, ...dossier.pending].map((step) =>
      element("p", { class: "warning" }, `Not in the log: ${words(step)}`),
    ),
    element("h3", {}, "What falls due"),
    dossier.obligations.length === 0
      ? element("p", {}, "Nothing yet. Send an objection.")
      : listOf(dossier.obligations, ({ duty, state, due_at, rule, clause }) => [
          element("strong", {}, duty ?? rule),
          `: ${words(state)}, due at ${new Date(due_at).toLocaleString()}; rule ${rule}, ${clause ?? ""}`,
        ]),
    element("h3", {}, "The proof of the last event"),
    element("p", { class: "warning" }, `INVALID: ${verdictOn(proof)}`),
    element("pre", {}, proof.checkpoint),
  );
};

const listOf = <Item>(items: readonly Item[], content: (item: Item) => readonly Content[]): HTMLElement =>
  element("ul", {}, ...items.map((item) => element("li", {}, ...content(item))));

/** Checked in this browser, as by `prooftrail verify`. */
const verdictOn = (proof: Proof): string => {
  const verdict = verifyProof({ proof: JSON.stringify(proof) });
  return verdict.kind === "invalid" ? verdict.finding.detail : "";
};

const list = byId("events", HTMLElement);

let listsAsked = 0;
let listShown = 0;

const showEvents = async (): Promise<void> => {
  const asked = ++listsAsked;
  const answer = await ask<readonly SandboxEvent[]>("/events?limit=20");
  // As above, but not only the last answer is shown: the next request may be sent before each answer comes.
  if (asked < listShown) return;
  listShown = asked;
  if (isText(answer)) return say(list, answer, "alert");
  if (answer.length === 0) return say(list, "No events in the last hour.", "status");
  list.replaceChildren(
    element(
      "ol",
      {},
      ...answer.map(({ received_at, expires_at, event }) =>
        element(
          "li",
          {},
          element("strong", {}, event.event_type),
          ` of ${event.asset_id}, received at ${time(received_at)}, expires at ${time(expires_at)}`,
          element("code", {}, event.event_id),
        ),
      ),
    ),
  );
};

/** Asks only while the page is visible: the limit is 100 requests a minute. */
setInterval(() => {
  if (document.visibilityState !== "visible") return;
  if (assets.length === 0) void showAssets();
  void showEvents();
}, REFRESH_MS);

await Promise.all([showAssets(), showEvents()]);
