/**
 * The limits that a request of a key counts against: its own, and those of the keys that it comes from. So a key that makes others, or is rotated, gets
 * no more through with them than alone.
 */
import { RATE_SHARES_MAX } from "../limits.ts";
import type { ApiKeyRecord } from "./key-record.ts";
import type { RateUnit } from "./rate-limit.ts";

export interface RateShare {
  /** The key whose counter it is: of keys with the same limit the one that the others come from. */
  readonly holder: string;
  readonly perSecond: number;
}

/** From the narrowest limit to the widest. Empty: not limited. */
export type RateShares = Readonly<Record<RateUnit, readonly RateShare[]>>;

export const NO_SHARES: RateShares = { requests: [], events: [] };

/** `get`: a key as it is stored, revoked ones included. Limits never change, so what is found holds as long as the key exists. */
export const rateSharesOf = (
  record: ApiKeyRecord,
  get: (id: string) => ApiKeyRecord | undefined,
): RateShares => {
  if (record.rate_limit === undefined) return NO_SHARES;
  const lineage = lineageOf(record, get);
  return { requests: sharesOf(lineage, "requests"), events: sharesOf(lineage, "events") };
};

/** The key, what it was rotated from, the key that made that, and so on. */
const lineageOf = (
  record: ApiKeyRecord,
  get: (id: string) => ApiKeyRecord | undefined,
): readonly ApiKeyRecord[] => {
  const lineage = new Set<ApiKeyRecord>();
  let next: ApiKeyRecord | undefined = record;
  while (next !== undefined && !lineage.has(next)) {
    lineage.add(next);
    next = get(next.rotated_from ?? next.created_by);
  }
  return [...lineage];
};

const sharesOf = (lineage: readonly ApiKeyRecord[], unit: RateUnit): readonly RateShare[] => {
  const shares: RateShare[] = [];
  for (const { id: holder, rate_limit: limit } of lineage) {
    const perSecond = limit?.[`${unit}_per_second`];
    // Nobody grants more than they have, so above a key without a limit there is none.
    if (perSecond === undefined) break;
    if (shares.at(-1)?.perSecond === perSecond) shares.pop();
    shares.push({ holder, perSecond });
  }
  return shares;
};

/** Whether a key that is made with this limit would count against too many: each request asks the counters of all. */
export const isTooDeep = (shares: readonly RateShare[], perSecond: number | undefined): boolean =>
  shares.length >= RATE_SHARES_MAX && perSecond !== shares[0]?.perSecond;
