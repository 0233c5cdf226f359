/** Notifications of obligations that only a database with several connections can test: one process waits in the middle of a commit. */
import { expect, test } from "bun:test";
import postgres from "postgres";
import { STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { type DutyMessage, notify } from "../../src/views/duty-notifications/notifier.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { applyBatch, letterOf } from "../../src/views/kit/apply-batch.ts";
import { replayLetter } from "../../src/views/kit/dead-letter-replay.ts";
import { createPostgresViews } from "../../src/views/store/postgres.ts";
import { CASES } from "../suites/expiry.ts";
import { silentLogger } from "../support/broker.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { createArrayLog } from "./array-log.ts";
import { messageOf } from "./records.ts";

const base = { asset_id: "a", legal_bases: ["pipa_37_2_kr"] };
const asked = messageOf(1, {
  event: {
    ...base,
    event_id: "evt_1",
    event_type: "objection.received",
    timestamp: "2026-04-18T09:00:00Z",
    metadata: { objection_id: "o1", decision_id: "d1", objection_type: "explanation_request" },
  },
});
const explained = messageOf(2, {
  event: {
    ...base,
    event_id: "evt_2",
    event_type: "decision.explanation_provided",
    timestamp: "2026-06-01T09:00:00Z",
    metadata: { decision_id: "d1" },
  },
});
const VIEWS = [eventsProjection, CASES] as const;

const tellsWhatIsTaken = async (): Promise<void> => {
  await using database = await (await testPostgres()).createDatabase();
  await using views = createPostgresViews({ url: database.url });
  await using others = createPostgresViews({ url: database.url });
  for (const view of VIEWS) await views.open(view);
  const { signal } = new AbortController();
  let time = "2026-04-18T08:00:00Z";
  const sent: DutyMessage[] = [];
  const dependencies = (from = views, log = createArrayLog([asked, explained])) => ({
    views: from,
    log,
    cases: CASES,
    rules: STANDARD_RULES,
    publish: async (messages: readonly DutyMessage[]) => void sent.push(...messages),
    lastPublished: async () => sent.length,
    onNotified: () => {},
    onPosition: () => {},
    logger: silentLogger,
    now: () => new Date(time),
  });
  const told = () =>
    sent.map(({ payload }) => {
      const { rule, state } = JSON.parse(payload);
      return `${rule} ${state}`;
    });
  const at = async (now: string): Promise<void> => {
    time = now;
    expect(await notify(dependencies(), signal)).toBe("done");
  };
  await notify(dependencies(views, createArrayLog([])), signal);
  const opened = await applyBatch({ projections: VIEWS, messages: [asked], load: views.load, now: "" });
  await views.commit({ views: VIEWS, from: 0, to: 1, ...opened });
  await at("2026-04-18T10:00:00Z");
  const found = await applyBatch({
    projections: [eventsProjection],
    messages: [explained],
    load: views.load,
    now: "",
  });
  const deadLetters = [
    letterOf(CASES.name, explained, { code: "row_refused", detail: "no room", now: time }),
  ];
  await views.commit({ views: VIEWS, from: 1, to: 2, ...found, deadLetters });
  // The duty is overdue now: the notifier waits in the middle of recording that, and the dead letter is replayed meanwhile.
  time = "2026-06-02T00:00:00Z";
  const holder = postgres(database.url, { max: 1, onnotice: () => {} });
  await holder.unsafe("BEGIN; SELECT * FROM obligations_told FOR UPDATE");
  const waiting = async (): Promise<number> => {
    const rows = await (await testPostgres()).run(
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
      new URL(database.url).pathname.slice(1),
    );
    return rows.length;
  };
  const telling = notify(dependencies(others), signal);
  await until("the notifier waits", async () => (await waiting()) === 1);
  let isTaken = false;
  const replaying = replayLetter(
    { log: createArrayLog([asked, explained]), views, now: () => new Date(time) },
    VIEWS,
    { projection: CASES.name, sequence: 2 },
  ).finally(() => {
    isTaken = true;
  });
  await until("the letter waits, or is taken", async () => isTaken || (await waiting()) === 2);
  await holder.unsafe("ROLLBACK");
  await holder.end();
  expect(await replaying).toEqual({ kind: "taken" });
  await telling;
  await at("2026-06-02T00:00:01Z");
  await at("2027-06-02T00:00:00Z");
  expect(told()).toContain("PIPA-EXPL overdue");
  expect(told().at(-1)).toBe("PIPA-EXPL met_late");
};

const title =
  "if a dead letter is replayed while a notifier records an older state, the obligation is published again";
if (noPostgresReason === undefined) test(title, tellsWhatIsTaken);
else test.skip(`${title}: ${noPostgresReason}`, () => undefined);
