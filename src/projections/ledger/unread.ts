/** Distinguishes hours with missing events from hours of which the views have not read everything yet. */
import { hourAt } from "../../log/accepted-counts.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { decodeRecord } from "../../log/record.ts";
import { RECONCILE_AFTER_MS } from "../limits.ts";
import { BALANCE_STATES, type HourBalance, NOT_PROJECTED } from "./reconcile.ts";

/** `view_behind`: the missing events may be among those that the views have not read yet. */
export const TOLD_STATES = [...BALANCE_STATES, "view_behind"] as const;

export interface ToldBalance extends Omit<HourBalance, "state"> {
  readonly state: (typeof TOLD_STATES)[number];
}

/**
 * `position`: what the views had read before the hours were reconciled; `end`: the end of the log after that. Records are in the order of their
 * times, to within seconds, so everything unread belongs to the hour of the first unread record or a later one: events missing in an earlier hour are
 * lost, however far behind the views are.
 */
export const tellUnread = async (
  log: Pick<LogReader, "read">,
  { position, end }: { readonly position: Sequence; readonly end: Sequence },
  balances: readonly HourBalance[],
): Promise<readonly ToldBalance[]> => {
  if (position >= end || !balances.some(isLacking)) return balances;
  const first = await log.read(position + 1);
  const record = first && decodeRecord(first.payload);
  // The hour of an unreadable record is not known, so it excuses none.
  if (record === undefined) return balances;
  const from = hourAt(Date.parse(record.receivedAt) - RECONCILE_AFTER_MS);
  return balances.map((balance) => (isLacking(balance) && balance.hour >= from ? unread(balance) : balance));
};

const isLacking = ({ state }: HourBalance): boolean =>
  state === "missing_in_log" || state === "not_projected";

const unread = (balance: HourBalance): ToldBalance => ({
  ...balance,
  state: "view_behind",
  differing: balance.differing.filter(({ code }) => code !== NOT_PROJECTED),
  isComplete: false,
});
