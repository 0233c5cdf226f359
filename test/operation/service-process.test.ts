/** The service as an operator uses it: started, stopped, killed, misconfigured. */
import { describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { MONITOR_ALARMS } from "../../src/proof/monitor.ts";
import { diagnose } from "../../src/service/doctor.ts";
import { ALARMS } from "../../src/views/kit/advance.ts";
import { settingsFor, startTestBroker, testBrokerBinary } from "../support/broker.ts";
import { fill } from "../support/full-disk.ts";
import { canMountDisk, mountDisk } from "../support/memory-disk.ts";
import {
  brokerPid,
  dataFolder,
  listIds,
  processesNaming,
  readyService,
  sendUntilAccepted,
  spawnService,
} from "../support/process.ts";
import { ADMIN_KEY, event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const hasOwnDisks = await canMountDisk();

const README = resolve(import.meta.dir, "../../README.md");

test("the first start prints its address and how to send a first event, and the printed command works", async () => {
  await using folder = await dataFolder();
  await using service = await readyService({ dataDir: folder.path });
  for (const said of ["ready in", "documentation", "broker", "views", "created; it is in"])
    expect(service.errors).toContain(said);
  const key = readFileSync(join(folder.path, "admin.key"), "utf8").trim();
  // What is no terminal may be a container's log, which is kept.
  for (const printed of [service.errors, service.output]) expect(printed).not.toContain(key);
  for (const name of ["admin.key", "views.sqlite", "views.sqlite-wal", "views.sqlite-shm"])
    expect([name, statSync(join(folder.path, name)).mode & 0o777]).toEqual([name, 0o600]);
  const curl = service.errors.slice(service.errors.indexOf("curl "));
  const { stdout } = spawnSync("sh", ["-c", curl], { encoding: "utf8" });
  const { event_id: eventId, sequence } = JSON.parse(stdout).data;
  expect(sequence).toBe(1);
  // A user who continues with README.md sends its first event, and not another one with the same id.
  expect(readFileSync(README, "utf8").includes(`"${eventId}"`)).toBe(false);
  for (const line of service.output.trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ level: expect.stringMatching(/^(info|warn|error)$/) });
});

test("the next start keeps the key and the events, and continues the sequence", async () => {
  await using folder = await dataFolder();
  for (const [round, id] of ["evt_a", "evt_b"].entries()) {
    await using service = await readyService({ dataDir: folder.path });
    expect(service.errors.includes("created; it is in")).toBe(round === 0);
    const sent = await service.call("/v1/events", { body: event({ event_id: id }) });
    expect(sent.json.data.sequence).toBe(round + 1);
    expect(await listIds(service, round + 1)).toEqual(["evt_a", "evt_b"].slice(0, round + 1));
    service.kill(round === 0 ? "SIGTERM" : "SIGINT");
    expect(await service.ended()).toBe(0);
    await until("nothing runs in the folder", () => processesNaming(folder.path).length === 0);
  }
});

test("a stop finishes accepted requests: every acknowledged event is there once at the next start", async () => {
  await using folder = await dataFolder();
  const acknowledged: string[] = [];
  {
    await using service = await readyService({ dataDir: folder.path });
    await sendUntilAccepted(service, "evt_before");
    const batches = Array.from({ length: 3 }, (_, batch) =>
      Array.from({ length: 500 }, (_, index) => event({ event_id: `evt_${batch}_${index}` })),
    );
    const calls = batches.map((events) => service.call("/v1/events/batch", { body: { events } }));
    service.kill("SIGTERM");
    for (const [index, result] of (await Promise.allSettled(calls)).entries()) {
      if (result.status === "rejected" || result.value.status !== 202) continue;
      expect(result.value.json.data.accepted).toBe(500);
      acknowledged.push(...(batches[index] ?? []).map(({ event_id }) => event_id));
    }
    expect(await service.ended()).toBe(0);
  }
  await using service = await readyService({ dataDir: folder.path });
  const { sequence } = await sendUntilAccepted(service, "evt_after");
  const ids = await listIds(service, sequence);
  expect(new Set(ids).size).toBe(ids.length);
  expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
});

test("answers while the service stops say that the connection will close", async () => {
  await using folder = await dataFolder();
  await using service = await readyService({
    dataDir: folder.path,
    environment: { ADMIN_API_KEY: ADMIN_KEY },
  });
  const body = JSON.stringify(event());
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  let answer = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    answer += chunk;
  });
  const ended = new Promise((resolve) => socket.once("end", resolve));
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(
    `POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ADMIN_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  // An answer on another connection shows that the service has read the head of this one.
  await service.call("/health/live");
  service.kill("SIGTERM");
  await until("nobody else is let in", () =>
    service.call("/health/live").then(
      () => false,
      () => true,
    ),
  );
  socket.write(body);
  await ended;
  expect(answer).toStartWith("HTTP/1.1 202");
  expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n");
  expect(await service.ended()).toBe(0);
});

test("metrics of alarms and late duties start at 0, so that their first increase is seen", async () => {
  await using service = await startTestService();
  const { text } = await service.call("/metrics");
  const series = [
    ...MONITOR_ALARMS.map((kind) => `prooftrail_monitor_alarms_total{kind="${kind}"}`),
    ...ALARMS.map((alarm) => `prooftrail_projection_alarms_total{projection="events",alarm="${alarm}"}`),
    ...["refused", "missing_in_log", "not_projected"].map(
      (state) => `prooftrail_reconciliation_alarms_total{state="${state}"}`,
    ),
    'prooftrail_seals_total{outcome="refused"}',
    'prooftrail_duties_announced_total{transition="late"}',
  ];
  for (const each of series) expect(text).toContain(`\n${each} 0\n`);
});

test("a process that only projects reports its own health, and serves nothing else", async () => {
  await using folder = await dataFolder();
  const environment = { ROLES: "projector", ADMIN_API_KEY: ADMIN_KEY };
  await using service = await readyService({ dataDir: folder.path, environment });
  const ready = await service.call("/health/ready");
  expect([ready.status, ready.json.data.status]).toEqual([200, "ready"]);
  await until("its views have a position", async () =>
    (await service.call("/metrics")).text.includes('prooftrail_projection_position{projection="events"}'),
  );
  const { text } = await service.call("/metrics");
  for (const line of ["prooftrail_log_last_sequence 0", "prooftrail_log_copies 1"])
    expect(text).toContain(`\n${line}\n`);
  const refused = await service.call("/v1/events");
  expect([refused.status, refused.json.code]).toEqual([404, "no_api"]);
  expect(refused.json.detail).toContain("role api");
  const wrongMethod = await service.call("/metrics", { method: "POST" });
  expect([wrongMethod.status, wrongMethod.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect(service.errors).toContain("/metrics");
  expect(service.errors).not.toContain("/docs");
});

test("if the reader of its output goes away, the service still takes events and still ends on a signal", async () => {
  await using folder = await dataFolder();
  await using service = await readyService({ dataDir: folder.path });
  service.stopReading();
  for (const id of ["evt_1", "evt_2"]) await sendUntilAccepted(service, id);
  expect(await listIds(service, 2)).toEqual(["evt_1", "evt_2"]);
  service.kill("SIGTERM");
  expect(await service.ended()).toBe(0);
});

test("`views … | head` ends without an error", () => {
  const command = resolve(import.meta.dir, "../../src/cli/main.ts");
  const script = `{ "$0" "$1" views rebuild --help; echo "ended with $?" >&2; } | true`;
  const { stderr } = spawnSync("sh", ["-c", script, process.execPath, command], { encoding: "utf8" });
  expect(stderr).toBe("ended with 0\n");
});

test("kill -9 of the service leaves no broker, and loses no acknowledged event", async () => {
  await using folder = await dataFolder();
  {
    await using service = await readyService({ dataDir: folder.path });
    for (const id of ["evt_1", "evt_2", "evt_3"]) await sendUntilAccepted(service, id);
    service.kill("SIGKILL");
    await until("nothing runs in the folder", () => processesNaming(folder.path).length === 0);
  }
  await using service = await readyService({ dataDir: folder.path });
  const again = await service.call("/v1/events", { body: event({ event_id: "evt_3" }) });
  expect(again.json.data).toMatchObject({ sequence: 3, duplicate: true });
  expect(await listIds(service, 3)).toEqual(["evt_1", "evt_2", "evt_3"]);
});

test("after kill -9 of the broker the service recovers by itself, and readiness reports the outage", async () => {
  await using folder = await dataFolder();
  await using service = await readyService({ dataDir: folder.path });
  await sendUntilAccepted(service, "evt_1");
  const before = brokerPid(folder.path);
  process.kill(before, "SIGKILL");
  await until(
    "the service says that it is not ready",
    async () => (await service.call("/health/ready")).status === 503,
  );
  expect((await service.call("/health/live")).status).toBe(200);
  const { sequence } = await sendUntilAccepted(service, "evt_2");
  await until("the service is ready again", async () => (await service.call("/health/ready")).status === 200);
  expect(brokerPid(folder.path)).not.toBe(before);
  expect(await listIds(service, sequence)).toEqual(["evt_1", "evt_2"]);
});

describe("a start that fails says why, and leaves nothing running", () => {
  const refusal = async (
    environment: Record<string, string>,
    dataDir: string,
  ): Promise<[number | null, string]> => {
    await using service = await spawnService({ dataDir, environment });
    return [await service.ended(), service.errors];
  };

  test("a misspelt setting is named where its absence makes another one invalid, by the start and by doctor", async () => {
    await using folder = await dataFolder();
    const environment = { STREAM_REPLICAS: "3", NATS_URLS: "nats://127.0.0.1:1" };
    const [exitCode, errors] = await refusal(environment, join(folder.path, "none"));
    expect(exitCode).toBe(2);
    const meant = "NATS_URLS is not a setting: did you mean NATS_URL, which is unset?";
    expect(errors).toContain("STREAM_REPLICAS must be 1 without NATS_URL");
    expect(errors).toContain(`\n  - ${meant}\n`);
    expect(existsSync(join(folder.path, "none"))).toBe(false);
    const checks = await Array.fromAsync(diagnose(environment));
    expect(checks.map(({ state, detail }) => [state, detail])).toEqual([
      ["failed", expect.stringContaining("STREAM_REPLICAS must be 1")],
      ["warning", meant],
      ["unchecked", "the settings say where they are"],
    ]);
  });

  test.skipIf(!hasOwnDisks)("a data folder on a full disk", async () => {
    await using folder = await dataFolder();
    await using disk = await mountDisk(folder.path, 8);
    await fill(join(disk.root, folder.path, "filler"));
    await using service = await spawnService({ dataDir: folder.path, through: disk.enter });
    expect(await service.ended()).toBe(1);
    expect(service.errors).toContain(`The disk of ${join(folder.path, "broker")} accepts no more data.`);
    expect(service.errors).not.toContain("    at ");
  });

  test("a data folder that another service uses", async () => {
    await using folder = await dataFolder();
    await using first = await readyService({ dataDir: folder.path });
    const [exitCode, errors] = await refusal({}, folder.path);
    expect(exitCode).toBe(1);
    expect(errors).toContain(`in use by process ${first.pid}`);
    expect((await first.call("/health/ready")).status).toBe(200);
  });

  test("a port that another program uses", async () => {
    await using folder = await dataFolder();
    const { promise, resolve } = Promise.withResolvers<number>();
    const other = createServer().listen(0, "127.0.0.1", () => {
      const address = other.address();
      resolve(typeof address === "object" && address ? address.port : 0);
    });
    const port = await promise;
    const [exitCode, errors] = await refusal({ PORT: String(port) }, folder.path);
    other.close();
    expect(exitCode).toBe(1);
    expect(errors).toContain(`Port ${port} on 127.0.0.1 is in use by another program.`);
    await until("its broker has ended", () => processesNaming(folder.path).length === 0);
  });

  test.each([
    ["views", "views.sqlite", "Views are built from the log"],
    ["passwords", "broker/credentials.json", "Remove the file: new ones are created"],
    ["signing keys", "checkpoint.key", "restore the key that signed them from a copy"],
  ])("damaged %s", async (_, file, advice) => {
    await using folder = await dataFolder();
    const path = join(folder.path, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "neither a database nor JSON".repeat(1000));
    const [exitCode, errors] = await refusal({}, folder.path);
    expect([exitCode, errors.includes(path), errors.includes(advice)]).toEqual([1, true, true]);
    expect(errors).not.toContain("at async");
  });

  test.each([
    ["admin.key", "This is in DATA_DIR"],
    ["broker/nats-server.conf", "This is in DATA_DIR"],
    ["broker/credentials.json", "cannot be read: EISDIR"],
    ["checkpoint.key", "cannot be read: EISDIR"],
    ["views.sqlite", "unable to open database file"],
  ])("a folder in the place of its %s", async (file, reason) => {
    await using folder = await dataFolder();
    const path = join(folder.path, file);
    mkdirSync(path, { recursive: true });
    const [exitCode, errors] = await refusal({}, folder.path);
    expect([exitCode, errors.includes(path), errors.includes(reason)]).toEqual([1, true, true]);
    expect(errors).toMatch(/the user that runs the service must own/i);
    expect(errors).not.toContain("    at ");
    await until("its broker has ended", () => processesNaming(folder.path).length === 0);
  });

  test.each([
    [
      "a data folder that cannot be made",
      { DATA_DIR: "/dev/null/data" },
      "DATA_DIR /dev/null/data cannot be used",
    ],
    ["a file of rules that is a folder", { OBLIGATION_RULES_FILE: "/" }, "/ cannot be read: EISDIR"],
    ["an address of others", { HOST: "192.0.2.1" }, "of HOST 192.0.2.1: EADDRNOTAVAIL"],
    [
      "a name that does not resolve",
      { HOST: "no-such-host.invalid" },
      "no-such-host.invalid: this machine knows no address of that name",
    ],
    [
      "a database URL that cannot be read",
      { DATABASE_URL: "postgres://u:100%hunter2@h/db" },
      "The views in the database of DATABASE_URL cannot be opened: the URL of the database cannot be read",
    ],
  ])("%s", async (_, environment, reason) => {
    await using folder = await dataFolder();
    const { DATA_DIR: dataDir = folder.path, ...others }: Record<string, string> = environment;
    const [exitCode, errors] = await refusal(others, dataDir);
    expect([exitCode, errors]).toEqual([1, expect.stringContaining(reason)]);
    expect(errors).not.toMatch(/ {4}at |hunter2/);
    await until("its broker has ended", () => processesNaming(folder.path).length === 0);
  });

  test("a NATS user that may not make streams ends the start at once", async () => {
    await using broker = await startTestBroker();
    await using folder = await dataFolder();
    const [exitCode, errors] = await refusal({ NATS_URL: broker.url("service") }, folder.path);
    expect(exitCode).toBe(1);
    expect(errors).toContain("Set NATS_PROVISION_URL to the same server with the provisioner's user");
  });

  test.each([
    [
      "is too old",
      "nats",
      { version: "2.9.10", max_payload: 1_048_576 },
      "The NATS server is version 2.9.10; Prooftrail needs 2.12.1 or newer",
    ],
    [
      "takes no message as large as an event may be",
      "nats",
      { version: "2.15.1", max_payload: 266_239 },
      "Set max_payload in its configuration to 266240 or more",
    ],
    ["offers no TLS and shall", "tls", { version: "2.15.1", max_payload: 1_048_576 }, "does not offer TLS"],
  ])("a NATS server that %s ends the start at once", async (_, scheme, told, reason) => {
    await using folder = await dataFolder();
    const info = JSON.stringify({ server_id: "x", headers: true, proto: 1, ...told });
    let heard = "";
    const { promise, resolve } = Promise.withResolvers<number>();
    const server = createServer((socket) => {
      socket.write(`INFO ${info}\r\n`);
      socket.on("data", (data) => {
        heard += data;
        if (data.includes("PING")) socket.write("PONG\r\n");
      });
      socket.on("error", () => {});
    }).listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : 0);
    });
    const url = `${scheme}://user:hunter2@127.0.0.1:${await promise}`;
    const [exitCode, errors] = await refusal({ NATS_URL: url }, folder.path);
    server.close();
    expect(exitCode).toBe(1);
    expect(errors).toContain(reason);
    expect(heard.includes("hunter2")).toBe(scheme === "nats");
    expect(errors).not.toContain("hunter2");
  });

  test("a NATS server without a cluster ends the start at once if it shall keep three copies, whether it is empty or has streams of one copy", async () => {
    await using broker = await startTestBroker();
    const environment = settingsFor(broker);
    for (const hasStreams of [false, true]) {
      await using folder = await dataFolder();
      if (hasStreams) {
        await using _before = await readyService({ dataDir: folder.path, environment });
      }
      await using service = await spawnService({
        dataDir: folder.path,
        environment: { ...environment, STREAM_REPLICAS: "3" },
      });
      expect(await service.ended()).toBe(1);
      expect(service.errors).toContain(
        "cannot keep 3 copies of each stream. Set STREAM_REPLICAS to 1, or NATS_URL",
      );
      expect(service.output).not.toContain("waiting for the broker");
    }
  });

  test("the start waits for a NATS server without JetStream, and a line says what it lacks", async () => {
    await using folder = await dataFolder();
    await using server = await startPlainNats(folder.path);
    await using service = await spawnService({
      dataDir: folder.path,
      environment: { NATS_URL: server.url },
    });
    await until("it says what it waits for", () => service.output.includes("waiting for the broker"));
    expect(service.output).toContain("Add a jetstream block to its configuration");
    const checks = await Array.fromAsync(diagnose({ NATS_URL: server.url, DATA_DIR: folder.path }));
    // Checks that need JetStream are left out: to say that its leader is being elected, or to name its user's rights, would mislead.
    expect(checks.slice(3)).toMatchObject([
      { name: "storage", state: "failed", advice: expect.stringContaining("has a jetstream block") },
      { name: "rights, streams, views", state: "unchecked" },
    ]);
  });

  test("the start waits for a NATS server that refuses the password, and one line says so and names the setting", async () => {
    await using broker = await startTestBroker();
    await using folder = await dataFolder();
    const url = broker.url("service").replace(/:[^:@]+@/, ":hunter2@");
    await using service = await spawnService({ dataDir: folder.path, environment: { NATS_URL: url } });
    const brokerLog = join(broker.directory, "nats-server.log");
    const refusals = () => readFileSync(brokerLog, "utf8").split("authentication error").length - 1;
    await until("it has tried again", () => refusals() >= 3);
    const lines = service.output.split("\n").filter((line) => line.includes("waiting for the broker"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("refuses the user or password: set those of its configuration in NATS_URL");
    expect(service.output + service.errors).not.toContain("hunter2");
  });

  test("the start waits where no server is there, and a signal ends the wait", async () => {
    await using folder = await dataFolder();
    const environment = { NATS_URL: "nats://127.0.0.1:1" };
    await using service = await spawnService({ dataDir: folder.path, environment });
    await until("it says what it waits for", () => service.output.includes("waiting for the broker"));
    expect(service.output).toContain("Check that NATS_URL, and NATS_PROVISION_URL if set, name");
    service.kill("SIGTERM");
    expect(await service.ended()).toBe(0);
  });
});

/** A nats-server without a configuration. */
const startPlainNats = async (folder: string): Promise<{ readonly url: string } & AsyncDisposable> => {
  const binary = await testBrokerBinary();
  const server = spawn(binary, ["-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder], {
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const url = await until("it has told its port", async () => {
    const name = (await readdir(folder)).find((name) => name.endsWith(".ports"));
    const text = name === undefined ? "" : await readFile(join(folder, name), "utf8");
    return /nats:\/\/[\d.:]+/.exec(text)?.[0];
  });
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.kill("SIGKILL");
      await ended;
    },
  };
};
