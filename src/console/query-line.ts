/**
 * The filters of events as one line of text: `asset_id:credit_model -event_type:decision.* from:2026-11-01 words`. Pure. The address holds the
 * same as parameters, with `not_` in front of what has a minus here.
 */
import { joined, valuesIn } from "./comma-list.ts";

/** Parameters of the address. */
export type Terms = Readonly<Record<string, string | undefined>>;

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?Z)?$/;
const TYPE = /^[a-z][a-z0-9_]*(\.([a-z][a-z0-9_]*|\*))?$/;
const TIER = /^(low|limited|high|prohibited)$/;
const BASIS = /^[a-z][a-z0-9_]*$/;
const HASH = /^sha256:[0-9a-f]{64}$/i;
const ANYTHING = /^/;

/** What takes several values, and the form of each. */
const FACTS = {
  event_type: TYPE,
  asset_id: ANYTHING,
  risk_tier: TIER,
  legal_basis: BASIS,
  correlation_id: ANYTHING,
  // A name typed here would stand in the address, so only a hash will do.
  subject_hash: HASH,
  trace_id: ANYTHING,
} as const;
const TIMES = ["from", "to"] as const;
const WORDS = "q";
const NOT = "not_";

export const LINE_NAMES: readonly string[] = [...Object.keys(FACTS), ...TIMES];

/** In the order in which they are written. */
const PARAMETERS: readonly string[] = [
  ...Object.keys(FACTS),
  ...Object.keys(FACTS).map((name) => NOT + name),
  ...TIMES,
];

const formOf = (name: string): RegExp | undefined =>
  new Map<string, RegExp>(Object.entries(FACTS)).get(name.replace(NOT, ""));

export type LineProblem =
  | "unknown_name"
  | "no_value"
  | "open_quote"
  | "stray_quote"
  | "minus_word"
  | "minus_time"
  | "second_time"
  | "bad_time"
  | "bad_value"
  | "bad_person";

export type ParsedLine =
  | { readonly kind: "terms"; readonly terms: Terms }
  /** What is wrong, and where it stands. */
  | {
      readonly kind: "wrong";
      readonly problem: LineProblem;
      readonly text: string;
      readonly from: number;
    };

interface Term {
  readonly name: string;
  readonly values: readonly string[];
  readonly end: number;
}

/** Every parameter is in the answer, so that what the line lacks goes out of the address. */
export const parseLine = (line: string): ParsedLine => {
  const found = new Map<string, readonly string[]>();
  let from = beyondBlanks(line, 0);
  while (from < line.length) {
    const term = readTerm(line, from);
    const problem = typeof term === "string" ? term : problemOf(term, found);
    if (typeof term === "string" || problem !== undefined)
      return {
        kind: "wrong",
        problem: problem ?? "no_value",
        text: /\S*/.exec(line.slice(from))?.[0] ?? "",
        from,
      };
    found.set(term.name, [...(found.get(term.name) ?? []), ...term.values]);
    from = beyondBlanks(line, term.end);
  }
  const terms = PARAMETERS.map((name) => [name, joined(found.get(name) ?? []) || undefined] as const);
  return { kind: "terms", terms: { ...Object.fromEntries(terms), q: found.get(WORDS)?.join(" ") } };
};

const beyondBlanks = (line: string, at: number): number =>
  at + (/^\s*/.exec(line.slice(at))?.[0].length ?? 0);

const NAMED = /(-?)([A-Za-z_]+):/y;

const readTerm = (line: string, from: number): Term | LineProblem => {
  NAMED.lastIndex = from;
  const named = NAMED.exec(line);
  if (named === null) return readWords(line, from);
  const [whole, minus, name = ""] = named;
  if (!LINE_NAMES.includes(name)) return "unknown_name";
  const isTime = formOf(name) === undefined;
  if (minus && isTime) return "minus_time";
  const values: string[] = [];
  for (let at = from + whole.length; ; at++) {
    const read = readValue(line, at, /[^\s",]+/y);
    if (typeof read === "string") return read;
    values.push(read.value);
    at = read.end;
    if (line[at] !== ",") return { name: (minus && NOT) + name, values, end: at };
  }
};

/** Words in quotation marks are words too: the service finds events that have all of them. */
const readWords = (line: string, from: number): Term | LineProblem => {
  if (line[from] === "-") return "minus_word";
  const read = readValue(line, from, /[^\s"]+/y);
  if (typeof read === "string") return read;
  const values = read.value.split(/\s+/).filter((word) => word !== "");
  return values.length === 0 ? "no_value" : { name: WORDS, values, end: read.end };
};

const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const ESCAPES = new Map([
  ["n", "\n"],
  ["r", "\r"],
]);

const readValue = (
  line: string,
  from: number,
  bare: RegExp,
): { readonly value: string; readonly end: number } | LineProblem => {
  const form = line[from] === '"' ? QUOTED : bare;
  form.lastIndex = from;
  const match = form.exec(line);
  if (match === null) return form === QUOTED ? "open_quote" : "no_value";
  const [whole, inside] = match;
  const end = from + whole.length;
  if (end < line.length && !/[\s,]/.test(line[end] ?? "")) return "stray_quote";
  if (inside === undefined) return { value: whole, end };
  const value = inside.replaceAll(/\\(.)/gs, (_, after: string) => ESCAPES.get(after) ?? after);
  return value === "" ? "no_value" : { value, end };
};

const problemOf = (
  { name, values }: Term,
  found: ReadonlyMap<string, readonly string[]>,
): LineProblem | undefined => {
  if (name === WORDS) return undefined;
  const form = formOf(name);
  if (form === undefined) {
    const isTime = values.every((value) => TIME.test(value) && Number.isFinite(Date.parse(value)));
    if (!isTime) return "bad_time";
    return values.length > 1 || found.has(name) ? "second_time" : undefined;
  }
  if (values.every((value) => form.test(value))) return undefined;
  return form === HASH ? "bad_person" : "bad_value";
};

/** What the address asks for. Parsing it gives the same terms, if the service would take them. */
export const printLine = (terms: Terms): string => {
  const facts = PARAMETERS.flatMap((name) => {
    const values = valuesIn(terms[name] ?? "").map(printValue);
    if (values.length === 0) return [];
    const start = name.startsWith(NOT) ? `-${name.slice(NOT.length)}` : name;
    return [`${start}:${values.join(",")}`];
  });
  const words = (terms[WORDS] ?? "").split(/\s+/).filter((word) => word !== "");
  return [...facts, ...words.map(printWord)].join(" ");
};

const quoted = (text: string): string =>
  `"${text.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}"`;

const printValue = (value: string): string => (/^[^\s",]+$/.test(value) ? value : quoted(value));

const printWord = (word: string): string => (/"|^-|^[A-Za-z_]+:/.test(word) ? quoted(word) : word);

/** Only events with this value, or none with it. Other filters stay. */
export const chosen = (terms: Terms, choice: "only" | "not", name: string, value: string): Terms => {
  const without = (from: string): string =>
    joined(valuesIn(terms[from] ?? "").filter((other) => other !== value));
  return choice === "only"
    ? { ...terms, [name]: joined([value]), [NOT + name]: without(NOT + name) }
    : {
        ...terms,
        [name]: without(name),
        [NOT + name]: joined([...valuesIn(without(NOT + name)), value]),
      };
};

/** What may stand at the end of the line in place of what is typed there. */
export interface Completion {
  readonly text: string;
  /** The line with it. */
  readonly line: string;
  readonly label: string;
}

export type KnownValues = (name: string) => readonly (readonly [value: string, label: string])[];

const COMPLETIONS_MAX = 8;

/** `line`: up to the caret. */
export const completionsOf = (line: string, known: KnownValues): readonly Completion[] => {
  const at = /(?:^|\s)-?(?:([a-z_]+):([^\s"]*,)?)?([^\s":,]*)$/.exec(line);
  const [, name = "", earlier = "", typed = ""] = at ?? [];
  const isValue = name !== "";
  if (at === null || (!isValue && typed === "")) return [];
  const start = line.slice(0, line.length - typed.length);
  const choices = isValue
    ? known(name).map(([value, label]) => ({
        text: printValue(value),
        label,
        line: `${start}${printValue(value)} `,
      }))
    : LINE_NAMES.map((each) => ({ text: each, label: "", line: `${start}${each}:` }));
  const isLike = (text: string): boolean => text.toLowerCase().includes(typed.toLowerCase());
  const taken = earlier.split(",");
  return choices
    .filter(({ text, label }) => (isLike(text) || (isValue && isLike(label))) && !taken.includes(text))
    .slice(0, COMPLETIONS_MAX);
};
