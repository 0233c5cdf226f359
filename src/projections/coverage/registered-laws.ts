/** Which legal bases this program knows: those by which it classifies, sets limits or keeps events, as the tables of each name them. */
import { LAWS } from "../../classification/vocabulary.ts";
import { DEADLINE_LAWS } from "../../obligations/deadlines.ts";
import { ANY_LAW } from "../../obligations/duties.ts";
import { LEGAL_FLOORS } from "../../retention/floors.ts";

/** What only a star of a floor stands for is not named: it may be misspelt as well. */
const REGISTERED: ReadonlySet<string> = new Set([
  ANY_LAW,
  ...Object.keys(LAWS),
  ...DEADLINE_LAWS,
  ...Object.keys(LEGAL_FLOORS),
]);

export const isRegistered = (law: string): boolean => REGISTERED.has(law);
