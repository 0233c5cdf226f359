/** The frame of every screen: navigation, search, seal, language. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { addressOf, go, place } from "../address.ts";
import { useAnswer } from "../api.ts";
import { language, numberOf, setLanguage } from "../language.ts";
import type { Screen } from "../screen-names.ts";
import { maySee, type SignedIn, signOut } from "../session.ts";
import { say, type Word } from "../words.ts";

type Link = readonly [screen: Screen, word: Word];

const MAIN: readonly Link[] = [
  ["", "overview"],
  ["events", "events"],
  ["decisions", "decisions"],
  ["obligations", "obligations"],
  ["coverage", "coverage"],
  ["evidence", "evidence"],
  ["record", "record"],
];
const REGISTERS: readonly Link[] = [
  ["systems", "systems"],
  ["models", "models"],
  ["notices", "notices"],
  ["objections", "objections"],
  ["reviews", "reviews"],
  ["incidents", "incidents"],
  ["assessments", "assessments"],
  ["risk-changes", "risk_changes"],
];
const ADMINISTRATION: readonly Link[] = [
  ["sources", "sources"],
  ["keys", "keys"],
  ["retention", "retention"],
];
/** A thing stands under its list. */
const LIST_OF: Readonly<Partial<Record<Screen, Screen>>> = {
  event: "events",
  decision: "decisions",
  letter: "decisions",
  "first-report": "incidents",
  system: "systems",
  incident: "incidents",
  gaps: "sources",
};

export const Shell = ({
  who,
  children,
}: {
  readonly who: SignedIn;
  readonly children: ComponentChildren;
}) => (
  <>
    <Navigation who={who} />
    <div class="page">
      <section class="bar" aria-label={say("search")}>
        <Search />
        <Seal />
      </section>
      <main id="content" tabindex={-1}>
        {children}
      </main>
    </div>
  </>
);

const SkipLink = () => (
  <button
    type="button"
    class="skip"
    onClick={() => {
      document.getElementById("content")?.focus();
    }}
  >
    {say("skip")}
  </button>
);

export const Brand = () => (
  <span class="brand">
    <i aria-hidden="true" />
    Prooftrail
  </span>
);

const Navigation = ({ who }: { readonly who: SignedIn }) => {
  const menu = useRef<HTMLDetailsElement>(null);
  const { screen } = place.value;
  // On a phone the menu covers the page, so it closes when the reader has chosen.
  useEffect(() => menu.current?.removeAttribute("open"), [place.value]);
  return (
    <header class="side">
      <SkipLink />
      <a class="home" href={addressOf("")}>
        <Brand />
      </a>
      <details
        class="menu"
        ref={menu}
        onKeyDown={({ key, currentTarget }) => {
          if (key !== "Escape") return;
          currentTarget.removeAttribute("open");
          currentTarget.querySelector("summary")?.focus();
        }}
      >
        <summary>{say("menu")}</summary>
        <NavigationLinks screen={screen} who={who} />
      </details>
      <div class="rail">
        <NavigationLinks screen={screen} who={who} />
      </div>
    </header>
  );
};

const NavigationLinks = ({
  screen,
  who,
}: {
  readonly screen: Screen | undefined;
  readonly who: SignedIn;
}) => (
  <>
    <nav aria-label={say("main_navigation")}>
      <Links links={MAIN} screen={screen} />
      <Links title="registers" links={REGISTERS} screen={screen} />
      <Links title="administration" links={ADMINISTRATION} screen={screen} />
      <h2>{say("more")}</h2>
      <ul>
        <li>
          <a href="./verify">{say("verify")}</a>
        </li>
        <li>
          <a href="./docs">{say("api")}</a>
        </li>
        <li>
          <a href="./sandbox">{say("sandbox")}</a>
        </li>
      </ul>
    </nav>
    <div class="who">
      <p>
        {say("tenant")} <strong>{who.tenant}</strong>
        <small>{who.person ?? who.key_name ?? who.key_id}</small>
        {who.role && <small>{say(`role_${who.role}`)}</small>}
        {who.role === "auditor" && <a href={addressOf("looked-at")}>{say("looked_at")}</a>}
      </p>
      <LanguageButton />
      <button type="button" class="quiet-button" onClick={() => signOut()}>
        {say("sign_out")}
      </button>
    </div>
  </>
);

/** Only what the seat may open. */
const Links = ({
  title,
  links,
  screen = "",
}: {
  readonly title?: Word;
  readonly links: readonly Link[];
  readonly screen?: Screen | undefined;
}) => {
  const open = links.filter(([name]) => maySee(name));
  if (open.length === 0) return null;
  return (
    <>
      {title && <h2>{say(title)}</h2>}
      <ul>
        {open.map(([name, word]) => (
          <li key={name}>
            <a
              href={addressOf(name)}
              aria-current={(LIST_OF[screen] ?? screen) === name ? "page" : undefined}
            >
              {say(word)}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
};

export const LanguageButton = () => {
  const other = language.value === "ko" ? "en" : "ko";
  return (
    <button type="button" class="quiet-button" lang={other} onClick={() => setLanguage(other)}>
      {say("other_language")}
    </button>
  );
};

const Search = () => {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (press: KeyboardEvent): void => {
      const isTyping = press.target instanceof Element && press.target.closest("input, select, textarea");
      if (press.key !== "/" || isTyping) return;
      press.preventDefault();
      field.current?.focus();
    };
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, []);
  return (
    <search>
      <form
        onSubmit={(submit) => {
          submit.preventDefault();
          go(addressOf("events", { q: field.current?.value.trim() }));
        }}
      >
        <input
          ref={field}
          type="search"
          aria-label={say("search")}
          placeholder={say("search_hint")}
          autocomplete="off"
        />
      </form>
    </search>
  );
};

const Seal = () => {
  const { answer } = useAnswer<string>("v1/log/checkpoint");
  if (answer.kind !== "answered") return null;
  const [origin = "", size = "0"] = answer.body.split("\n");
  return (
    <span class="seal" title={origin}>
      {say("sealed", { n: numberOf(Number(size)) })}
    </span>
  );
};
