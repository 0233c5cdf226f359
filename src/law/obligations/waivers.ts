/**
 * Waivers: a stated reason why an obligation will not be met, or its withdrawal. They are administrative events, so the log keeps who and when. Pure.
 */
import type { Fact } from "../cases/fact.ts";

export const OBLIGATION_WAIVED = "system.obligation_waived";
export const OBLIGATION_UNWAIVED = "system.obligation_unwaived";

export interface Waiver {
  readonly at: string;
  readonly by: string;
  readonly reason: string;
  readonly sequence: Fact["sequence"];
}

/** What is waived: an obligation, and the events of the objection, decision, incident or review that it is about. */
interface Waivable {
  readonly id: string;
  readonly rule: string;
  readonly thing: readonly Pick<Fact, "id">[];
}

export const isWaiver = ({ type }: Pick<Fact, "type">): boolean =>
  type === OBLIGATION_WAIVED || type === OBLIGATION_UNWAIVED;

const NO_WAIVERS: ReadonlyMap<string, Waiver> = new Map();

/**
 * The waivers that stand, by the id of the obligation. The order is that of the log, which no clock changes: the first one stands until it is withdrawn. An
 * obligation has another id once an earlier event starts it, so a waiver also finds it by the event that started it before.
 */
export const waiversIn = (
  facts: readonly Fact[],
  obligations: readonly Waivable[],
): ReadonlyMap<string, Waiver> => {
  if (facts.length === 0) return NO_WAIVERS;
  const ids = new Set(obligations.map(({ id }) => id));
  const currentId = (said: string): string | undefined =>
    ids.has(said)
      ? said
      : obligations.find(({ rule, thing }) => thing.some(({ id }) => said === `${rule}:${id}`))?.id;
  const waivers = new Map<string, Waiver>();
  for (const { type, at, sequence, says } of facts.toSorted((one, other) => one.sequence - other.sequence)) {
    const { obligation_id: said, actor: by, reason } = says;
    const id = said === undefined ? undefined : currentId(said);
    if (id === undefined) continue;
    if (type === OBLIGATION_UNWAIVED) waivers.delete(id);
    else if (by !== undefined && reason !== undefined && !waivers.has(id))
      waivers.set(id, { at, by, reason, sequence });
  }
  return waivers;
};
