/**
 * Waivers: somebody says why an obligation will not be met, or takes that back. They are administrative events, so the log keeps who said it and when. Pure.
 */
import { type Fact, inOrder } from "../cases/fact.ts";

export const OBLIGATION_WAIVED = "system.obligation_waived";
export const OBLIGATION_UNWAIVED = "system.obligation_unwaived";

export interface Waiver {
  readonly at: string;
  /** Id of the API key. */
  readonly by: string;
  readonly reason: string;
}

export const isWaiver = ({ type }: Pick<Fact, "type">): boolean =>
  type === OBLIGATION_WAIVED || type === OBLIGATION_UNWAIVED;

const NO_WAIVERS: ReadonlyMap<string, Waiver> = new Map();

/** The waivers that stand, by the id of the obligation: what was said last counts. */
export const waiversIn = (facts: readonly Fact[]): ReadonlyMap<string, Waiver> => {
  if (facts.length === 0) return NO_WAIVERS;
  const waivers = new Map<string, Waiver>();
  for (const { type, at, says } of facts.toSorted(inOrder)) {
    const { obligation_id: id, actor: by, reason } = says;
    if (id === undefined) continue;
    if (type === OBLIGATION_UNWAIVED) waivers.delete(id);
    else if (by !== undefined && reason !== undefined) waivers.set(id, { at, by, reason });
  }
  return waivers;
};
