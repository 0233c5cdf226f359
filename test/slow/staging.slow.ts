/** Where the broker keeps batches until they are whole: in memory, as long as there is enough. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { brokerFiles } from "../../src/nats/broker/broker-files.ts";
import { prepareStaging, stagingFolder } from "../../src/nats/broker/staging.ts";
import { startBroker } from "../../src/nats/broker/supervise.ts";
import { silentLogger, testBrokerBinary } from "../support/broker.ts";
import { fill } from "../support/full-disk.ts";
import { provision } from "../support/log.ts";
import { diskFolder } from "../support/memory-folder.ts";
import {
  brokerPid,
  dataFolder,
  killNow,
  processesNaming,
  readyService,
  type ServiceProcess,
} from "../support/process.ts";
import { event } from "../support/service.ts";
import { until } from "../support/until.ts";

const MIB = 1024 * 1024;

const hasMemory = (): boolean => {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize > 64 * MIB;
  } catch {
    return false;
  }
};
const inMemory = test.concurrent.skipIf(!hasMemory());

const linkOf = (dataDir: string): string =>
  join(dataDir, "broker/store/jetstream/PROOFTRAIL/streams/AUDIT/batches");
const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

const sendBatch = (service: ServiceProcess, name: string, events = 100) =>
  service.call("/v1/events/batch", {
    body: { events: Array.from({ length: events }, (_, at) => event({ event_id: `evt_${name}_${at}` })) },
  });

/** Whether a batch leaves traces in the folder that the link names. */
const expectStagedInMemory = async (service: ServiceProcess, name: string): Promise<string> => {
  const link = linkOf(service.dataDir);
  const folder = readlinkSync(link);
  const before = statSync(folder).mtimeMs;
  expect((await sendBatch(service, name)).json.data).toMatchObject({ accepted: 100 });
  expect(isLink(link)).toBe(true);
  expect(statSync(folder).mtimeMs).toBeGreaterThan(before);
  expect(statSync(dirname(folder)).mode & 0o777).toBe(0o700);
  return folder;
};

inMemory(
  "batches are staged in memory, even by a broker that was killed, and nothing stays there",
  async () => {
    await using data = await dataFolder();
    const start = async (): Promise<ServiceProcess> => {
      const service = await readyService({ dataDir: data.path });
      return service;
    };
    await using first = await start();
    const folder = await expectStagedInMemory(first, "first");
    await killNow(brokerPid(data.path));
    await until("the broker is back", async () => (await sendBatch(first, "again", 1)).status === 202);
    expect(await expectStagedInMemory(first, "second")).toBe(folder);
    first.kill("SIGKILL");
    await first.ended();
    await until("its broker has ended", () => processesNaming(data.path).length === 0);
    mkdirSync(join(folder, "left"));

    await using second = await start();
    expect(existsSync(join(folder, "left"))).toBe(false);
    const next = await expectStagedInMemory(second, "third");
    second.kill("SIGTERM");
    expect(await second.ended()).toBe(0);
    expect(existsSync(dirname(next))).toBe(false);
    expect(isLink(linkOf(data.path))).toBe(false);
  },
);

inMemory("after a crash the broker is ready only when its batches are staged in memory again", async () => {
  await using data = await dataFolder();
  const atEnd = Promise.withResolvers<void>();
  const error = (): void => atEnd.resolve();
  await using broker = await startBroker({
    binary: await testBrokerBinary(),
    directory: join(data.path, "broker"),
    logger: { ...silentLogger, error },
  });
  await provision(broker);
  const { pid } = broker;
  process.kill(pid, "SIGKILL");
  await atEnd.promise;
  await broker.untilReady();
  expect(broker.pid).not.toBe(pid);
  expect(isLink(linkOf(data.path))).toBe(true);
});

test.concurrent("a broker that cannot write down where it listens after a crash is used all the same", async () => {
  await using data = await dataFolder();
  await using own = await dataFolder();
  // After the first start it tells nobody its port, as on a disk that is full for that moment.
  const program = join(own.path, "nats-server");
  const silent = join(own.path, "silent");
  writeFileSync(
    program,
    `#!/bin/sh\n[ "$1" != -c ] || [ ! -e ${silent} ] || sed -i /ports_file_dir/d "$2"\nexec ${await testBrokerBinary()} "$@"\n`,
    { mode: 0o700 },
  );
  await using service = await readyService({
    dataDir: data.path,
    environment: { NATS_SERVER_BIN: program },
  });
  writeFileSync(silent, "");
  await killNow(brokerPid(data.path));
  await until("a batch is stored", async () => (await sendBatch(service, "after")).status === 202);
});

inMemory(
  "if somebody removes the folder in memory, batches are staged on disk, and the log says so",
  async () => {
    await using data = await dataFolder();
    await using service = await readyService({ dataDir: data.path });
    const folder = await expectStagedInMemory(service, "first");
    rmSync(dirname(folder), { recursive: true });
    await until("the link is gone", () => !isLink(linkOf(data.path)));
    expect((await sendBatch(service, "second")).json.data).toMatchObject({ accepted: 100 });
    expect(service.output).toContain("batches are staged on disk until the broker restarts");
  },
);

inMemory("what an earlier run of the same directory staged is removed, and nothing else", async () => {
  await using data = await dataFolder();
  await using original = await dataFolder();
  const folder = await stagingFolder(data.path);
  const ofOriginal = await stagingFolder(original.path);
  mkdirSync(join(folder, "AUDIT", "left"), { recursive: true });
  mkdirSync(ofOriginal);
  const staging = await prepareStaging(brokerFiles(data.path), silentLogger);
  expect(readdirSync(join(folder, "AUDIT"))).toEqual([]);
  await staging.remove();
  expect([existsSync(folder), existsSync(ofOriginal)]).toEqual([false, true]);
  rmdirSync(ofOriginal);
});

/** With its own folder in memory, so that nobody else on the machine is disturbed. */
const SMALL_MEMORY = [
  ...["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"],
  'mount -t tmpfs -o size=40m tmpfs /dev/shm && exec "$@"',
  "sh",
];

const canMount = spawnSync(SMALL_MEMORY[0] ?? "", [...SMALL_MEMORY.slice(1), "true"]).status === 0;

test.skipIf(!hasMemory() || !canMount)(
  "if other programs fill the memory, batches are staged on disk, and the log says so",
  async () => {
    await using data = await dataFolder(diskFolder());
    await using service = await readyService({ dataDir: data.path, through: SMALL_MEMORY });
    const link = linkOf(data.path);
    expect((await sendBatch(service, "first")).json.data).toMatchObject({ accepted: 100 });
    expect(isLink(link)).toBe(true);
    await fill(`/proc/${service.pid}/root/dev/shm/filler`);
    await until("the link is gone", () => !isLink(link));
    expect((await sendBatch(service, "second")).json.data).toMatchObject({ accepted: 100 });
    expect(statSync(link).isDirectory()).toBe(true);
    expect(service.output).toContain("batches are staged on disk until the broker restarts");
  },
);
