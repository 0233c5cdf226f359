/** The service where its broker, its disk, its views or the reader of its output fail it, which takes several starts. The rest: test/operation/service-process.test.ts. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { diagnose } from "../../src/service/doctor.ts";
import { settingsFor, startTestBroker, testBrokerBinary } from "../support/broker.ts";
import { runCli } from "../support/cli.ts";
import { fill } from "../support/full-disk.ts";
import { canMountDisk, mountDisk } from "../support/memory-disk.ts";
import {
  brokerPid,
  dataFolder,
  listIds,
  readyService,
  type ServiceProcess,
  sendUntilAccepted,
  spawnService,
  standStill,
} from "../support/process.ts";
import { ADMIN_KEY, event } from "../support/service.ts";
import { socketPair } from "../support/socket-pair.ts";
import { until } from "../support/until.ts";

test("a stop while the broker is paused answers requests on their way, and does not wait for the rest", async () => {
  await using folder = await dataFolder();
  await using broker = await startTestBroker();
  const environment = settingsFor(broker);
  await using service = await readyService({
    dataDir: folder.path,
    environment: { ...environment, ADMIN_API_KEY: ADMIN_KEY },
  });
  await sendUntilAccepted(service, "evt_before");
  const commits = async (): Promise<number> =>
    Number(/^prooftrail_commit_records_count (\d+)$/m.exec((await service.call("/metrics")).text)?.[1]);
  const before = await commits();
  await standStill(broker.pid);
  const call = service.call("/v1/events", { body: event({ event_id: "evt_meanwhile" }) });
  await until("it is on its way", async () => (await commits()) > before);
  service.kill("SIGTERM");
  const { status, json } = await call;
  expect([status, json.code]).toEqual([503, "log_unavailable"]);
  expect(await service.ended()).toBe(0);
  process.kill(broker.pid, "SIGCONT");
});

test("a start does not wait for a process that holds the lock of the views, such as a projector paused in a commit", async () => {
  await using folder = await dataFolder();
  const environment = { ADMIN_API_KEY: ADMIN_KEY };
  {
    await using _service = await readyService({ dataDir: folder.path, environment });
  }
  using paused = new DatabaseSync(join(folder.path, "views.sqlite"));
  paused.exec("BEGIN IMMEDIATE");
  await using service = await readyService({ dataDir: folder.path, environment });
  const { sequence } = await sendUntilAccepted(service, "evt_1");
  paused.exec("ROLLBACK");
  expect(await listIds(service, sequence)).toEqual(["evt_1"]);
});

/** Although nobody reads its log, to which each request writes a line. */
const expectToAnswerAndEnd = async (
  service: ServiceProcess,
  { requests }: { readonly requests: number },
): Promise<void> => {
  await service.untilReady();
  for (let count = 0; count < requests; count++)
    expect((await service.call("/health/live", { key: null })).status).toBe(200);
  const { sequence } = await sendUntilAccepted(service, "evt_1");
  expect(await listIds(service, sequence)).toEqual(["evt_1"]);
  service.kill("SIGTERM");
  expect(await service.ended()).toBe(0);
};

const expectWholeLines = (written: string): void => {
  for (const line of written.split("\n").slice(0, -1)) JSON.parse(line);
};

test.skipIf(process.platform !== "linux")(
  "if the reader of its output stops reading, requests are still answered, a signal ends the service, and no line is torn",
  async () => {
    await using folder = await dataFolder();
    const pipe = join(folder.path, "output");
    spawnSync("mkfifo", [pipe]);
    // The pipe is opened but not read.
    const output = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    await using service = await spawnService({
      dataDir: folder.path,
      through: ["sh", "-c", 'exec "$@" > "$0"', pipe],
    });
    // Each request writes a line of 200 bytes, and the pipe holds 64 KiB.
    await expectToAnswerAndEnd(service, { requests: 600 });
    const written = readFileSync(output, "utf8");
    closeSync(output);
    expect(written.length).toBeGreaterThan(30_000);
    expectWholeLines(written);
  },
);

test.skipIf(process.platform !== "linux")(
  "a socket that nobody reads, such as systemd's journald, does not stop the service either",
  async () => {
    await using folder = await dataFolder();
    // Neither end reads.
    const [output, reader] = socketPair();
    await using service = await spawnService({ dataDir: folder.path, output });
    // Each request writes a line of 200 bytes, and the socket takes less than 208 KiB. On Deno nothing is answered after some 900 (measured).
    await expectToAnswerAndEnd(service, { requests: 1500 });
    closeSync(output);
    const written = readFileSync(reader, "utf8");
    closeSync(reader);
    expect(written.length).toBeGreaterThan(20_000);
    expectWholeLines(written);
  },
);

test("if the service's own broker stands still, doctor says to start the running service again", async () => {
  await using folder = await dataFolder();
  await using _service = await readyService({ dataDir: folder.path });
  const pid = brokerPid(folder.path);
  await standStill(pid);
  const broker = (await Array.fromAsync(diagnose({ DATA_DIR: folder.path }))).find(
    ({ name }) => name === "broker",
  );
  expect(broker).toMatchObject({
    state: "failed",
    detail: expect.stringContaining("did not answer in time"),
    advice: "Start or restart the service: it runs the broker.",
  });
  process.kill(pid, "SIGCONT");
});

test.skipIf(!(await canMountDisk()))("views on a full disk, although the broker has room", async () => {
  await using folder = await dataFolder();
  await using broker = await startTestBroker();
  await using disk = await mountDisk(folder.path, 64);
  const environment = {
    ...settingsFor(broker),
    ADMIN_API_KEY: ADMIN_KEY,
  };
  const start = () => spawnService({ dataDir: folder.path, environment, through: disk.enter });
  {
    await using service = await start();
    await service.untilReady();
    service.kill("SIGTERM");
    expect(await service.ended()).toBe(0);
  }
  await fill(join(disk.root, folder.path, "filler"));
  await using service = await start();
  expect(await service.ended()).toBe(1);
  expect(service.errors).toContain("If its disk is full, free space and start again");
  expect(service.errors).not.toContain("    at ");
});

test("after a restart of the broker all its streams are right again, even the one in memory", async () => {
  await using folder = await dataFolder();
  await using service = await readyService({ dataDir: folder.path });
  const made = () =>
    service.output.split("\n").filter((line) => line.includes("created a stream") && /\bSANDBOX\b/.test(line))
      .length;
  expect(made()).toBe(1);
  process.kill(brokerPid(folder.path), "SIGKILL");
  await until("the sandbox stream is created anew", () => made() === 2);
  await until("the service is ready", async () => (await service.call("/health/ready")).status === 200);
});

test("a start that has to make a view again, for example after other rules of obligations, names the view", async () => {
  await using folder = await dataFolder();
  const rules = join(folder.path, "rules.json");
  writeFileSync(rules, '{"holidays": ["2026-12-25"]}');
  for (const [environment, made] of [
    [{}, []],
    [{ OBLIGATION_RULES_FILE: rules }, ["cases"]],
    [{ OBLIGATION_RULES_FILE: rules }, []],
  ] as const) {
    await using service = await readyService({ dataDir: folder.path, environment });
    const lines = service.output.split("\n").filter((line) => line.includes("a view is rebuilt"));
    const projections = lines.map((line) => JSON.parse(line).projection);
    expect([environment, projections]).toEqual([environment, [...made]]);
    service.kill("SIGTERM");
    expect(await service.ended()).toBe(0);
  }
});

test("if a command makes a view from a damaged file, it says what to do and shows no stack trace", async () => {
  await using folder = await dataFolder();
  {
    await using service = await readyService({ dataDir: folder.path });
    await sendUntilAccepted(service, "evt_a");
    await listIds(service, 1);
    service.kill("SIGTERM");
    expect(await service.ended()).toBe(0);
  }
  const path = join(folder.path, "views.sqlite");
  const database = new DatabaseSync(path);
  const found = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'events'").get();
  database.close();
  const bytes = readFileSync(path);
  // The page size is in the file's head (sqlite.org/fileformat.html).
  const pageBytes = bytes.readUInt16BE(16);
  bytes.fill(0xff, (Number(found?.rootpage) - 1) * pageBytes, Number(found?.rootpage) * pageBytes);
  writeFileSync(path, bytes);
  const environment = { DATA_DIR: folder.path, NATS_SERVER_BIN: await testBrokerBinary() };
  const { code, err } = await runCli(["views", "rebuild", "events"], { environment });
  expect(code).toBe(1);
  expect(err).toContain(`The views in ${path} cannot be used: database disk image is malformed.`);
  expect(err).toContain("remove it");
  expect(err).not.toContain("sqlite.ts");
});

test("a command that does not know the service's rules of obligations neither makes nor checks views", async () => {
  await using folder = await dataFolder();
  const rules = join(folder.path, "rules.json");
  writeFileSync(rules, '{"holidays": ["2026-12-25"]}');
  await using _service = await readyService({
    dataDir: folder.path,
    environment: { OBLIGATION_RULES_FILE: rules },
  });
  const own = { DATA_DIR: folder.path, NATS_SERVER_BIN: await testBrokerBinary() };
  for (const args of [["rebuild", "cases"], ["verify"], ["dead-letter", "replay", "cases"]]) {
    const { code, out, err } = await runCli(["views", ...args], { environment: own });
    expect([args, code, out]).toEqual([args, 2, ""]);
    expect(err).toContain(
      "The view cases was built by another version of Prooftrail, or with other obligation rules",
    );
  }
  const knowing = { ...own, OBLIGATION_RULES_FILE: rules };
  const { code, out } = await runCli(["views", "verify", "cases"], { environment: knowing });
  expect([code, out]).toEqual([0, "cases: equal at 0, 0 rows\n"]);
});
