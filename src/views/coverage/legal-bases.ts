/**
 * The legal bases that this program knows: those with which it classifies, sets limits or keeps events, from the tables of each. Documents list them,
 * and an event that names another one is answered with a warning.
 */

import { LEGAL_FLOORS } from "../../access/retention/floors.ts";
import { LAWS } from "../../law/classification/vocabulary.ts";
import {
  ANY_LAW,
  DEADLINE_LAWS,
  DEADLINES,
  type Deadline,
  namedBases,
} from "../../law/obligations/deadline-table.ts";

export interface KnownLegalBasis {
  readonly name: string;
  readonly title: string;
  readonly clocks: readonly Deadline[];
}

const OTHER_TITLES: Readonly<Record<string, string>> = {
  eu_ai_act_art_26: "EU AI Act, deployers of high-risk systems",
  eu_ai_act_art_73: "EU AI Act, serious incidents",
  feha_ads_us_ca: "California FEHA, automated-decision systems",
};

const TITLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(LAWS).map(([name, { title }]) => [name, title])),
  ...OTHER_TITLES,
};

const clocksOf = (name: string): readonly Deadline[] => {
  const named = namedBases([name]);
  return DEADLINES.filter(({ bases }) => bases.some((basis) => named.includes(basis)));
};

const POLICY_LAW = "policy";

/** Names that only the star of a floor matches do not count: they may be misspelt. */
const NAMES = new Set([...Object.keys(LAWS), ...DEADLINE_LAWS, ...Object.keys(LEGAL_FLOORS)]);

export const LEGAL_BASES: readonly KnownLegalBasis[] = [...NAMES]
  .filter((name) => name !== POLICY_LAW && !name.endsWith("*"))
  .map((name) => ({ name, title: TITLES[name] ?? name, clocks: clocksOf(name) }));

const REGISTERED: ReadonlySet<string> = new Set([
  ANY_LAW,
  POLICY_LAW,
  ...LEGAL_BASES.map(({ name }) => name),
]);

export const isRegistered = (law: string): boolean => REGISTERED.has(law);
