/**
 * What proving costs: `bun bench/proof.ts [events]`. Events go into a real log, its trees are made and sealed as often as at 10,000 events/s, and
 * proofs of randomly chosen events are requested over HTTP. Only the views `events` and `tree` are made, because a proof needs no other.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type LogReader, type OutgoingRecord, recordPayload } from "../src/log/event-log.ts";
import { createCheckpointStream } from "../src/nats/checkpoint-stream.ts";
import { createLogReader } from "../src/nats/reader.ts";
import { readKeyRing } from "../src/proof/key-ring.ts";
import { createSealer } from "../src/proof/seal.ts";
import { eventsProjection } from "../src/views/events/evolve.ts";
import { applyBatch } from "../src/views/kit/apply-batch.ts";
import type { Projection } from "../src/views/kit/projection.ts";
import { createSqliteViews } from "../src/views/store/sqlite.ts";
import type { ViewStore } from "../src/views/store/view-store.ts";
import { treeProjection } from "../src/views/tree/evolve.ts";
import { treeSource } from "../src/views/tree/queries.ts";
import { auditSubject } from "../streams/subjects.ts";
import { silentLogger } from "../test/support/broker.ts";
import { createChance } from "../test/support/histories/chance.ts";
import { appenderOn, startTestLog, type TestLog } from "../test/support/log.ts";
import { startTestService } from "../test/support/service.ts";
import { DIGITS, sampleEvent } from "./sample-event.ts";

const TENANT = "acme";
const GROUP = 1000;
const APPENDS_IN_FLIGHT = 3;
/** Of a second at 10,000 events/s. */
const EVENTS_PER_SEAL = 10_000;
const PROOFS = 3000;
const SEED = "11".repeat(32);

const count = Number(process.argv[2] ?? 1_000_000);
const digitsOf = (index: number): string => String(index).padStart(DIGITS, "0");

const ENVELOPE = {
  tenant: TENANT,
  receivedAt: "2026-11-20T10:00:00.512Z",
  requestId: "0198c0de-0000-7000-8000-000000000000",
};

const recordOf = (index: number): OutgoingRecord => ({
  tenant: TENANT,
  subject: auditSubject(TENANT, "credit_model", "decision.automated_decision_made"),
  messageId: digitsOf(index),
  ...recordPayload(ENVELOPE, sampleEvent("proof", digitsOf(index))),
});

const append = async ({ connection }: TestLog): Promise<void> => {
  const appender = appenderOn(connection);
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) {
      const first = next;
      next += GROUP;
      const records = Array.from({ length: Math.min(GROUP, count - first) }, (_, place) =>
        recordOf(first + place),
      );
      const outcomes = await appender.append(records);
      if (outcomes.some(({ kind }) => kind !== "appended")) throw new Error("an event was not appended");
    }
  };
  await Promise.all(Array.from({ length: APPENDS_IN_FLIGHT }, one));
};

/** Microseconds of CPU of this process for everything except `onGroup`. */
const project = async (
  { log, views }: { readonly log: LogReader; readonly views: ViewStore },
  projections: readonly Projection[],
  onGroup: (to: number) => Promise<void> = async () => undefined,
): Promise<number> => {
  const reading = new AbortController();
  let [position, cpu] = [0, 0];
  for (const projection of projections) await views.open(projection);
  for await (const messages of log.follow({ from: 1, messagesMax: GROUP, signal: reading.signal })) {
    const before = process.cpuUsage();
    const outcome = await applyBatch({ projections, messages, load: views.load, now: "" });
    const to = messages.at(-1)?.sequence ?? position;
    if (projections.length > 0) {
      const { kind } = await views.commit({ views: projections, from: position, to, ...outcome });
      if (kind !== "committed") throw new Error(kind);
    }
    const used = process.cpuUsage(before);
    cpu += used.user + used.system;
    position = to;
    await onGroup(to);
    if (position >= count) break;
  }
  reading.abort();
  return cpu;
};

const sealAll = async (log: TestLog, parts: { readonly log: LogReader; readonly views: ViewStore }) => {
  const keys = readKeyRing(SEED);
  if (keys.kind === "malformed") throw new Error(keys.detail);
  const checkpoints = await createCheckpointStream(log.connection);
  for (const key of keys.ring.publicKeys) await checkpoints.addPublicKey(key);
  let [seals, cpu, sealed] = [0, 0, 0];
  const sealer = createSealer({
    serviceName: "prooftrail",
    keys: keys.ring,
    trees: treeSource(parts.views),
    checkpoints,
    isOfLog: async () => true,
    logger: silentLogger,
    onOutcome: ({ kind }) => {
      if (kind === "sealed") seals++;
    },
  });
  const treeCpu = await project(parts, [treeProjection], async (to) => {
    if (to < sealed + EVENTS_PER_SEAL && to < count) return;
    const before = process.cpuUsage();
    await sealer.look();
    const used = process.cpuUsage(before);
    cpu += used.user + used.system;
    sealed = to;
  });
  return { treeCpu, sealCpu: cpu, seals };
};

const askProofs = async (url: string, key: string, connections: number): Promise<readonly number[]> => {
  const chance = createChance(connections);
  const times: number[] = [];
  const one = async (): Promise<void> => {
    while (times.length < PROOFS) {
      const id = `evt_proof_${digitsOf(chance.below(count))}`;
      const startedAt = performance.now();
      const answer = await fetch(`${url}/v1/events/${id}/proof`, {
        headers: { authorization: `Bearer ${key}` },
      });
      await answer.text();
      times.push(performance.now() - startedAt);
      if (answer.status !== 200) throw new Error(`status ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  return times.sort((one_, other) => one_ - other);
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const at = (sorted: readonly number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2);
const perEvent = (cpu: number): string => (cpu / count).toFixed(2);

const dataDir = await mkdtemp(join(tmpdir(), "prooftrail-bench-proof-"));
try {
  await using log = await startTestLog();
  await append(log);
  {
    await using views = createSqliteViews({ path: join(dataDir, "views.sqlite") });
    const parts = { log: await createLogReader(log.connection), views };
    const readCpu = await project(parts, []);
    const { treeCpu, sealCpu, seals } = await sealAll(log, parts);
    print(
      "| events | tree heads | CPU µs/event: reading and decoding, which all views share | tree | sealing |",
    );
    print("|---|---|---|---|---|");
    print(
      `| ${count} | ${seals} | ${perEvent(readCpu)} | ${perEvent(treeCpu - readCpu)} | ${perEvent(sealCpu)} |`,
    );
    await project(parts, [eventsProjection]);
  }
  await using service = await startTestService({
    DATA_DIR: dataDir,
    NATS_URL: log.broker.url("service"),
    NATS_PROVISION_URL: log.broker.url("provisioner"),
    ROLES: "api",
  });
  const key = await service.makeKey(TENANT, ["events:read"]);
  await askProofs(service.url, key, 1);
  print("");
  print("| proofs over HTTP, connections | p50 ms | p99 ms | slowest ms |");
  print("|---|---|---|---|");
  for (const connections of [1, 16]) {
    const times = await askProofs(service.url, key, connections);
    print(`| ${connections} | ${at(times, 0.5)} | ${at(times, 0.99)} | ${at(times, 1)} |`);
  }
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
