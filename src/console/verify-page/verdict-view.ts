/** Shows a verdict: what it is, where it is broken, what was verified. In the words of `prooftrail verify`, which are English. */
import type { EvidenceFacts } from "../../proof/evidence/verdict.ts";
import type { ProofFacts } from "../../proof/evidence/verify-proof.ts";
import { factRows, findingText, NOT_PINNED, proofRows } from "../../proof/verifier/report.ts";
import { printable, printableLines } from "../../runtime/printable.ts";
import { byId, element } from "./elements.ts";
import type { Judged } from "./judge.ts";
import type { Said } from "./words.ts";

export interface VerdictView {
  clear(): void;
  /** A sentence that is no verdict. */
  say(text: string): void;
  undecided(name: string, detail: string): void;
  show(judged: Judged): void;
}

export const createVerdictView = (words: Said): VerdictView => {
  const said = byId("said", HTMLElement);
  const facts = byId("facts", HTMLElement);
  const verdict = (kind: "valid" | "invalid" | "undecided", name: string, detail?: string): void =>
    said.replaceChildren(
      element(
        "div",
        { class: `verdict ${kind}` },
        element("strong", {}, `${words[kind]}  ${printable(name)}`),
        ...(detail === undefined ? [] : [element("p", ENGLISH_TEXT, printable(detail))]),
      ),
    );
  return {
    clear: () => {
      said.replaceChildren();
      facts.replaceChildren();
    },
    say: (text) => said.replaceChildren(element("p", {}, text)),
    undecided: (name, detail) => verdict("undecided", name, detail),
    show: ({ name, verdict: judged }) => {
      if (judged.kind === "undecided") return verdict("undecided", name, judged.detail);
      if (judged.kind === "invalid") return verdict("invalid", name, findingText(judged.finding));
      if ("anchor" in judged.facts) {
        verdict("valid", name, judged.facts.isKeyPinned ? undefined : NOT_PINNED);
        facts.replaceChildren(...bundleFacts(words, judged.facts));
      } else {
        verdict("valid", name);
        facts.replaceChildren(...eventFacts(words, judged.facts));
      }
    },
  };
};

const ENGLISH_TEXT = { lang: "en" } as const;

const bundleFacts = (words: Said, facts: EvidenceFacts): readonly HTMLElement[] => [
  ...table(words, factRows(facts)),
  ...(facts.isKeyPinned
    ? []
    : [element("p", {}, words.compare), element("pre", {}, facts.keys.map(printable).join("\n"))]),
  ...(facts.notes.length === 0 ? [] : [element("h2", {}, words.notes)]),
  ...facts.notes.map((note) => element("p", ENGLISH_TEXT, printable(note))),
];

const eventFacts = (words: Said, facts: ProofFacts): readonly HTMLElement[] => [
  ...table(words, proofRows(facts)),
  element("h2", {}, words.event),
  element("pre", {}, printableLines(facts.eventText)),
];

const table = (words: Said, rows: ReturnType<typeof factRows>): readonly HTMLElement[] => [
  element("h2", {}, words.facts),
  element(
    "table",
    {},
    element(
      "tbody",
      {},
      ...rows.map(([name, value]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, words.rows[name] ?? name),
          element("td", ENGLISH_TEXT, printable(value)),
        ),
      ),
    ),
  ),
];
