/**
 * What projecting costs and how fast views answer: `bun bench/projecting.ts [events] [postgres-url]`. Histories of AI systems at work go through all
 * projections into a new database, as a rebuild does it, without a broker; then every list and register is asked with values that occur.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { PROJECTION_RECORDS_PER_COMMIT_MAX } from "../src/limits.ts";
import type { StoredMessage } from "../src/log/event-log.ts";
import { encodeRecord } from "../src/log/record.ts";
import { STANDARD_RULES } from "../src/obligations/overrides.ts";
import { readActivity } from "../src/projections/activity/queries.ts";
import { assetList } from "../src/projections/assets/queries.ts";
import { findCase } from "../src/projections/cases/queries.ts";
import { decisionList } from "../src/projections/cases/registers/decisions.ts";
import { humanReviewList } from "../src/projections/cases/registers/human-reviews.ts";
import { objectionList } from "../src/projections/cases/registers/objections.ts";
import { obligationList } from "../src/projections/cases/registers/obligations.ts";
import { searchEvents } from "../src/projections/events/queries.ts";
import { evolveGroup } from "../src/projections/evolve-group.ts";
import { type List, readList } from "../src/projections/list.ts";
import { PROJECTIONS } from "../src/projections/registry.ts";
import { createPostgresViews } from "../src/views/postgres.ts";
import { createSqliteViews } from "../src/views/sqlite.ts";
import type { Condition } from "../src/views/tenant-query.ts";
import type { ViewStore } from "../src/views/view-store.ts";
import { CALM, type Chance, createChance, makeHistory } from "../test/support/histories.ts";

const TENANT = "acme";
const EVENTS_PER_HISTORY = 50_000;
const ASSETS = 20;
/** A CALM case has about so many events. */
const EVENTS_PER_CASE = 1.9;
const QUESTIONS = 400;

const encoder = new TextEncoder();

async function* messages(count: number): AsyncGenerator<StoredMessage[]> {
  let sequence = 0;
  for (let seed = 1; sequence < count; seed++) {
    const cases = Math.ceil(EVENTS_PER_HISTORY / ASSETS / EVENTS_PER_CASE);
    const { events } = makeHistory({ seed, assets: ASSETS, cases, shares: CALM });
    for (
      let start = 0;
      start < events.length && sequence < count;
      start += PROJECTION_RECORDS_PER_COMMIT_MAX
    ) {
      const some = events.slice(
        start,
        Math.min(start + PROJECTION_RECORDS_PER_COMMIT_MAX, start + count - sequence),
      );
      yield some.map((event) => ({ sequence: ++sequence, subject: "", payload: payloadOf(event) }));
    }
  }
}

const payloadOf = (event: object): Uint8Array =>
  encoder.encode(
    encodeRecord({
      tenant: TENANT,
      receivedAt: "2026-11-20T10:00:00.000Z",
      requestId: "0198c0de-0000-7000-8000-000000000000",
      eventText: JSON.stringify({ ...event, tags: { team: "credit", canary: false } }),
    }),
  );

const project = async (views: ViewStore, count: number): Promise<void> => {
  for (const projection of PROJECTIONS) await views.open(projection);
  let position = 0;
  let [ms, cpuMicroseconds, bytes] = [0, 0, 0];
  for await (const group of messages(count)) {
    for (const { payload } of group) bytes += payload.length;
    const [start, cpu] = [performance.now(), process.cpuUsage()];
    const outcome = await evolveGroup({
      projections: PROJECTIONS,
      messages: group,
      load: views.load,
      now: "",
    });
    const to = position + group.length;
    const result = await views.commit({ views: PROJECTIONS, from: position, to, ...outcome });
    if (result.kind !== "committed" || outcome.deadLetters.length > 0) throw new Error(result.kind);
    const used = process.cpuUsage(cpu);
    ms += performance.now() - start;
    cpuMicroseconds += used.user + used.system;
    position = to;
  }
  print(
    `| ${position} | ${Math.round(bytes / position)} | ${Math.round((position / ms) * 1000)} | ${(cpuMicroseconds / position).toFixed(1)} | ${(ms / 1000).toFixed(0)} |`,
  );
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const equals = (column: string, value: string): Condition => ({ kind: "equals", column, value });

/** Questions with values that occur, each drawn anew. */
const questions = (
  views: ViewStore,
  histories: number,
): Readonly<Record<string, (chance: Chance) => Promise<unknown>>> => {
  const assetOf = (chance: Chance): string => `asset_${1 + chance.below(histories)}_${chance.below(ASSETS)}`;
  const subjectOf = (chance: Chance): string => `sha256:${String(chance.below(10)).repeat(64)}`;
  const page = { order: "desc", limit: 50 } as const;
  const list = (of: List, where: (chance: Chance) => readonly Condition[]) => (chance: Chance) =>
    readList(views, TENANT, of, { ...page, where: where(chance) });
  const search = (filter: (chance: Chance) => object) => (chance: Chance) =>
    searchEvents(views, TENANT, { ...page, timeField: "timestamp", ...filter(chance) });
  return {
    events: search(() => ({})),
    "events of an asset": search((chance) => ({ assetId: assetOf(chance) })),
    "events of an asset and type": search((chance) => ({
      assetId: assetOf(chance),
      eventType: "decision.explanation_provided",
    })),
    "events of a person": search((chance) => ({ subjectHash: subjectOf(chance) })),
    "events with a tag and a basis": search(() => ({
      tags: [{ key: "team", value: "credit" }],
      legalBasis: "colorado_sb26_189",
    })),
    "events of a day": search(() => ({ from: "2026-10-01T00:00:00Z", to: "2026-10-02T00:00:00Z" })),
    assets: list(assetList, () => []),
    decisions: list(decisionList, () => []),
    "decisions of an asset": list(decisionList, (chance) => [equals("asset_id", assetOf(chance))]),
    "denied decisions of a person": list(decisionList, (chance) => [
      equals("subject_hash", subjectOf(chance)),
      equals("outcome", "denied"),
    ]),
    "open objections": list(objectionList, () => [equals("state", "received")]),
    "reviews of an asset": list(humanReviewList, (chance) => [equals("asset_id", assetOf(chance))]),
    "overdue duties": list(obligationList, () => [
      equals("status", "open"),
      { kind: "range", column: "due_at", to: "2026-11-01" },
    ]),
    "duties of an asset": list(obligationList, (chance) => [equals("asset_id", assetOf(chance))]),
    "activity of a month by day and type": () =>
      readActivity(views, TENANT, {
        bucket: "day",
        groupBy: ["start", "event_type"],
        from: "2026-10-01",
        to: "2026-11-01",
        rowsMax: 10_001,
      }),
    "one decision": (chance) => {
      const asset = assetOf(chance);
      return findCase(views, TENANT, {
        kind: "decision",
        value: `dec_${asset}_${chance.below(500)}`,
        rules: STANDARD_RULES,
      });
    },
  };
};

const ask = async (views: ViewStore, count: number): Promise<void> => {
  const chance = createChance(1);
  const histories = Math.ceil(count / EVENTS_PER_HISTORY);
  for (const [name, question] of Object.entries(questions(views, histories))) {
    const times: number[] = [];
    for (let asked = 0; asked < QUESTIONS; asked++) {
      const start = performance.now();
      await question(chance);
      times.push(performance.now() - start);
    }
    times.sort((one, other) => one - other);
    const at = (share: number): string => (times[Math.floor(share * QUESTIONS)] ?? 0).toFixed(1);
    print(`| ${name} | ${at(0.5)} | ${at(0.99)} | ${at(0.999)} |`);
  }
};

const count = Number(process.argv[2] ?? 1_000_000);
const url = process.argv[3];
const folder = await mkdtemp(join(tmpdir(), "prooftrail-projecting-"));
try {
  const path = join(folder, "views.sqlite");
  await using views = url === undefined ? createSqliteViews({ path }) : createPostgresViews({ url });
  print("| events | bytes each | events/s | CPU µs/event | s |\n|---|---|---|---|---|");
  await project(views, count);
  if (url === undefined) print(`\n${Math.round((await stat(path)).size / 2 ** 20)} MB\n`);
  print("| question | p50 ms | p99 ms | p99.9 ms |\n|---|---|---|---|");
  await ask(views, count);
} finally {
  await rm(folder, { recursive: true, force: true });
}
