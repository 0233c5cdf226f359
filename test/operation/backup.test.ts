/** What docs/how-to/back-up-and-restore.md says of a copy: it is taken at one moment of a running service, and without its views. */
import { expect, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { brokerPid, dataFolder, readyService, type ServiceProcess, standStill } from "../support/process.ts";
import { event } from "../support/service.ts";
import { until } from "../support/until.ts";

const COUNT = 20;

/** Size and root of the newest tree head (C2SP tlog-checkpoint), once it covers all events. */
const sealed = (service: ServiceProcess, count = COUNT): Promise<readonly string[]> =>
  until("all events are sealed", async () => {
    const { text } = await service.call("/v1/log/checkpoint");
    const [, size, root] = text.split("\n");
    return size === String(count) && root !== undefined && [size, root];
  });

const shown = async ({ call }: ServiceProcess) => {
  const page = await call(`/v1/events?order=asc&limit=${COUNT}&min_sequence=${COUNT}`);
  expect([page.status, page.json.data?.length]).toEqual([200, COUNT]);
  const proof = await call("/v1/events/evt_7/proof");
  expect(proof.status).toBe(200);
  const { leaf_index, leaf_hash } = proof.json.data;
  return { events: page.json.data, proven: { leaf_index, leaf_hash } };
};

test("a copy of the folder, taken at one moment of a running service, starts as the same service and makes its views again", async () => {
  await using folder = await dataFolder();
  await using elsewhere = await dataFolder();
  await using service = await readyService({ dataDir: folder.path });
  for (let index = 0; index < COUNT; index++) {
    const answer = await service.call("/v1/events", { body: event({ event_id: `evt_${index}` }) });
    expect(answer.status).toBe(202);
  }
  const head = await sealed(service);
  const before = await shown(service);

  const broker = brokerPid(folder.path);
  for (const pid of [service.pid, broker]) await standStill(pid);
  const isView = (path: string): boolean => basename(path).startsWith("views.sqlite");
  cpSync(folder.path, elsewhere.path, { recursive: true, filter: (path) => !isView(path) });
  service.kill("SIGKILL");
  process.kill(broker, "SIGCONT");
  await service.ended();

  await using copy = await readyService({ dataDir: elsewhere.path });
  expect(await sealed(copy)).toEqual(head);
  expect(await shown(copy)).toEqual(before);
  expect(copy.output).not.toContain("do not agree");
});

test("after an older log copy is restored beside newer views, nothing is taken, and new records are sealed once the views are rebuilt", async () => {
  await using folder = await dataFolder();
  await using elsewhere = await dataFolder();
  const broker = join(folder.path, "broker/store");
  const copy = join(elsewhere.path, "store");
  const running = async (work: (service: ServiceProcess) => Promise<unknown>): Promise<void> => {
    await using service = await readyService({ dataDir: folder.path });
    await work(service);
    service.kill("SIGTERM");
    expect(await service.ended()).toBe(0);
  };
  const take = async (service: ServiceProcess, names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const answer = await service.call("/v1/events", { body: event({ event_id: `evt_${name}` }) });
      expect(answer.status).toBe(202);
    }
  };
  await running(async (service) => {
    await take(service, ["kept"]);
    await sealed(service, 1);
  });
  cpSync(broker, copy, { recursive: true });
  await running(async (service) => {
    await take(service, ["lost_1", "lost_2"]);
    await sealed(service, 3);
  });
  rmSync(broker, { recursive: true });
  cpSync(copy, broker, { recursive: true });
  await running(async (service) => {
    // Nothing is acknowledged into a log that is known to have lost its end, whoever writes.
    for (const [path, body] of [
      ["/v1/events", event({ event_id: "evt_new_1" })],
      ["/v1/events/batch", { events: [event({ event_id: "evt_new_1" })] }],
      ["/v1/events?resent=true", event({ event_id: "evt_lost_1" })],
      ["/v1/keys", { tenant: "acme", scopes: ["events:read"] }],
    ] as const) {
      const refused = await service.call(path, { body });
      expect([path, refused.status, refused.json.code]).toEqual([path, 503, "log_behind"]);
    }
    const reasons = (await service.call("/health/ready?without=views")).json.reasons;
    expect(reasons.join()).toContain("more than the log holds");
    expect((await service.call("/metrics")).text).toContain("prooftrail_log_last_sequence 1\n");
  });
  for (const end of ["", "-wal", "-shm"]) rmSync(join(folder.path, `views.sqlite${end}`), { force: true });
  await running(async (service) => {
    await take(service, ["new_1", "new_2"]);
    const resent = await service.call("/v1/events?resent=true", { body: event({ event_id: "evt_lost_1" }) });
    expect([resent.status, resent.json.data?.duplicate]).toEqual([202, false]);
    await sealed(service, 4);
    expect(service.output).not.toContain("do not agree");
  });
});
