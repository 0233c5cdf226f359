import { expect, test } from "bun:test";
import { messageOf, simpleEvent } from "../../../test/projections/records.ts";
import { type HourBalance, tellUnread } from "./reconcile.ts";

const balance = (hour: string, state: HourBalance["state"]): HourBalance => ({
  hour,
  accepted: 5,
  stored: 3,
  projected: 3,
  repeated: 0,
  deadLetters: 1,
  state,
  differing: [
    { eventId: "evt_1", sequence: 1, code: "not_projected" },
    { eventId: "evt_2", sequence: 2, code: "event_id_conflict" },
  ],
  isComplete: true,
});

/** A log whose record after the position was received at this time. */
const logWith = (receivedAt: string) => ({
  read: async (sequence: number) =>
    sequence === 8 ? messageOf(8, { event: simpleEvent("evt_8"), receivedAt }) : undefined,
});

const BEHIND = { position: 7, end: 9 };
const statesOf = (balances: readonly HourBalance[]) => balances.map(({ state }) => state);

test("an hour that the views have not read to its end is behind, and names only known differences", async () => {
  const log = logWith("2026-11-20T10:30:00.000Z");
  const [read, behind] = await tellUnread(log, BEHIND, [
    balance("2026-11-20T09", "missing_in_log"),
    balance("2026-11-20T10", "not_projected"),
  ]);
  expect(read).toEqual(balance("2026-11-20T09", "missing_in_log"));
  expect(behind).toMatchObject({
    state: "view_behind",
    differing: [{ eventId: "evt_2", sequence: 2, code: "event_id_conflict" }],
    isComplete: false,
  });
});

test("an hour is still behind if the next record is a second later, because front ends differ by seconds", async () => {
  const hour = [balance("2026-11-20T09", "missing_in_log")];
  expect(statesOf(await tellUnread(logWith("2026-11-20T10:00:01.000Z"), BEHIND, hour))).toEqual([
    "view_behind",
  ]);
});

test("balanced and refused hours stay so, and a difference is reported if nothing is unread or the next record is unreadable", async () => {
  const log = logWith("2026-11-20T10:30:00.000Z");
  const lacking = [balance("2026-11-20T10", "missing_in_log"), balance("2026-11-20T10", "not_projected")];
  const others = [balance("2026-11-20T10", "more_stored"), balance("2026-11-20T10", "refused")];
  expect(await tellUnread(log, BEHIND, others)).toEqual(others);
  expect(await tellUnread(log, { position: 9, end: 9 }, lacking)).toEqual(lacking);
  expect(await tellUnread(log, { position: 8, end: 9 }, lacking)).toEqual(lacking);
});
