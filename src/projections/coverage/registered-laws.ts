/** The legal bases that this program knows: those with which it classifies, sets limits or keeps events, from the tables of each. */
import { LAWS } from "../../classification/vocabulary.ts";
import { DEADLINE_LAWS } from "../../obligations/deadlines.ts";
import { ANY_LAW } from "../../obligations/duties.ts";
import { LEGAL_FLOORS } from "../../retention/floors.ts";

/** Names that only the star of a floor matches do not count: they may be misspelt. */
const REGISTERED: ReadonlySet<string> = new Set([
  ANY_LAW,
  ...Object.keys(LAWS),
  ...DEADLINE_LAWS,
  ...Object.keys(LEGAL_FLOORS),
]);

export const isRegistered = (law: string): boolean => REGISTERED.has(law);
