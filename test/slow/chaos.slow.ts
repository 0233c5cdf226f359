import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { cluster } from "../chaos/cluster.ts";
import { disk, type OwnBrokerScene, openOnSmallDisk, single } from "../chaos/own-broker.ts";
import { type ChaosOptions, runChaos } from "../chaos/run.ts";
import type { Scenario } from "../chaos/scene.ts";
import { canMountDisk } from "../support/memory-disk.ts";
import { type Answer, type CallOptions, event } from "../support/service.ts";
import { WAIT_MS_MAX } from "../support/time-limits.ts";
import { until } from "../support/until.ts";
import { within } from "../support/within.ts";

/** It is asked once, because each time mounts a disk. */
const onDisk = test.concurrent.skipIf(!(await canMountDisk()));

const COUNT = 40;
/** This fills the log's block of 8 MiB before all events are sent, even if they are compressed. */
const noise = (): string => randomBytes(120_000).toString("hex");

const EVENTS_ON_THEIR_WAY_MAX = 240;

/** About one event in thirty opens a duty. */
const ACKNOWLEDGED_MIN = 1_000;

/** This is the short form; `bun run chaos` is the long one. */
const plays = async <Kind extends string>(
  scenario: Scenario<Kind>,
  { faults }: Pick<ChaosOptions, "faults">,
): Promise<void> => {
  const seed = Math.floor(Math.random() * 1_000_000);
  const said: string[] = [];
  // It has as many senders as the long form, but they pause and send less per request: other tests run beside this one.
  const { senders } = scenario.load;
  const load = { senders, restMs: 100, batchEventsMax: EVENTS_ON_THEIR_WAY_MAX / senders };
  const report = await runChaos(
    { ...scenario, load },
    {
      seed,
      faults,
      msMax: 2 * WAIT_MS_MAX,
      calmMsMax: 600,
      lastsMsMax: 1_500,
      acknowledgedMin: ACKNOWLEDGED_MIN,
      say: (text) => said.push(text),
    },
  );
  expect({ seed, violations: report.violations, said: said.length }).toEqual({
    seed,
    violations: [],
    said: faults,
  });
  expect(report.acknowledged).toBeGreaterThanOrEqual(ACKNOWLEDGED_MIN);
  expect(report.duties).toBeGreaterThan(10);
};

test.concurrent("when service and broker are killed and paused under load, every acknowledged event is stored and shown exactly once", () =>
  plays(single, { faults: 4 }));

test.concurrent("when any of three brokers and two front ends fail under load, every acknowledged event is stored and shown exactly once", () =>
  plays(cluster, { faults: 3 }));

onDisk(
  "when a disk is full for a while, the service recovers by itself, and every acknowledged event is stored and shown exactly once",
  // Mostly this takes ten seconds. A stream of duties that stays closed is noticed after eighteen; its messages are sent again after its broker restarts.
  () => plays(disk, { faults: 1 }),
);

const answerOf = (scene: OwnBrokerScene, path: string, options?: CallOptions): Promise<Answer> =>
  within(`${path} is answered`, scene.call(path, options));

onDisk.each([
  ["when it is left to itself", async () => {}],
  ["when it is stopped and started again", (scene: OwnBrokerScene) => scene.restart()],
  ["when the service is killed and started again", (scene: OwnBrokerScene) => scene.restart("SIGKILL")],
])(
  "a disk that is full at the first event leaves no hole %s: the log begins at 1, and the views follow it",
  async (_, mend) => {
    await using scene = await openOnSmallDisk();
    const send = () => answerOf(scene, "/v1/events", { body: event({ event_id: "evt_first" }) });
    await scene.whileFull(async () => {
      const refused = await send();
      expect([refused.status, refused.json.code]).toEqual([503, "log_unavailable"]);
    });
    await mend(scene);
    const taken = await until("events are taken again", async () => {
      const answer = await send();
      return answer.status === 202 && answer;
    });
    expect(taken.json.data.sequence).toBe(1);
    // It asks several times: a projector that found no log tries again every five seconds, and one request waits that long.
    await until(
      "the views follow",
      async () => (await answerOf(scene, "/v1/events?min_sequence=1")).status === 200,
    );
  },
);

onDisk(
  "a start on a full disk reports it and destroys nothing: all data is there when space is free again",
  async () => {
    await using scene = await openOnSmallDisk();
    const send = (n: number) =>
      answerOf(scene, "/v1/events", {
        body: event({ event_id: `evt_${n}`, metadata: { padding: noise() } }),
      });
    // The log has more than one block, and its broker was stopped in order before.
    await send(1);
    await scene.restart();
    for (let n = 2; n <= COUNT; n++) expect((await send(n)).status).toBe(202);
    let stored = COUNT;
    await scene.whileFull(async () => {
      // The views may have freed some of their WAL after the disk was filled.
      let { status } = await send(stored + 1);
      while (status === 202) ({ status } = await send(++stored + 1));
      expect(status).toBe(503);
      await expect(scene.restart()).rejects.toThrow("accepts no more data");
    });
    await scene.restart();
    expect((await send(stored + 2)).json.data.sequence).toBe(stored + 1);
    const shown = await answerOf(scene, `/v1/export?min_sequence=${stored + 1}`);
    expect(shown.text.match(/"sequence":/g)).toHaveLength(stored + 1);
  },
);
