/** Hours that seem to lack something because the views have not read all of them yet, told apart from those that do. */
import { hourAt } from "../../log/accepted-counts.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { decodeRecord } from "../../log/record.ts";
import { RECONCILE_AFTER_MS } from "../limits.ts";
import { BALANCE_STATES, type HourBalance, NOT_PROJECTED } from "./reconcile.ts";

/** `view_behind`: what is missing may be among what the views have not read yet. */
export const TOLD_STATES = [...BALANCE_STATES, "view_behind"] as const;

export interface ToldBalance extends Omit<HourBalance, "state"> {
  readonly state: (typeof TOLD_STATES)[number];
}

/**
 * `position`: what the views had read before the hours were reconciled; `end`: of the log, after that. Records stand in the order
 * of their times but for seconds, so all that is unread is of the hour of the first unread one or later: what an earlier hour
 * lacks is lost, however far behind the views are.
 */
export const tellUnread = async (
  log: Pick<LogReader, "read">,
  { position, end }: { readonly position: Sequence; readonly end: Sequence },
  balances: readonly HourBalance[],
): Promise<readonly ToldBalance[]> => {
  if (position >= end || !balances.some(isLacking)) return balances;
  const first = await log.read(position + 1);
  const record = first && decodeRecord(first.payload);
  // Of one that nobody can read no hour is known, and none is excused.
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
