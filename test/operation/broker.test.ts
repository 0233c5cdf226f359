import { describe, expect, test } from "bun:test";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { AckPolicy, connect, DeliverPolicy, type NatsConnection } from "nats";
import { brokerFiles, lockInstance } from "../../src/nats/broker/broker-files.ts";
import { unpackDebianPackage } from "../../src/nats/broker/debian-package.ts";
import { downloadRelease, findBroker } from "../../src/nats/broker/find.ts";
import { readServerInfo } from "../../src/nats/broker/server-info.ts";
import { endLeftover } from "../../src/nats/broker/server-process.ts";
import { type Broker, startBroker } from "../../src/nats/broker/supervise.ts";
import type { Logger } from "../../src/telemetry/logger.ts";
import type { BrokerUser } from "../../streams/permissions.ts";
import { topology } from "../../streams/topology.ts";
import { silentLogger, startTestBroker, testBrokerBinary } from "../support/broker.ts";
import { provision } from "../support/log.ts";
import { dataFolder } from "../support/process.ts";
import { until } from "../support/until.ts";

const STREAMS = topology({ replicas: 1 });

const connectAs = async (broker: Broker, user: BrokerUser): Promise<NatsConnection & AsyncDisposable> => {
  const { host, username, password } = new URL(broker.url(user));
  const settings = {
    servers: host,
    user: username,
    pass: password,
    reconnectTimeWait: 50,
    maxReconnectAttempts: -1,
  };
  const connection = await connect(settings);
  return Object.assign(connection, { [Symbol.asyncDispose]: () => connection.close() });
};

/** The broker's answer on a subject of its API, or the code of the refusal. */
const ask = async (
  connection: NatsConnection,
  subject: string,
  body: unknown,
  timeoutMs = 5000,
): Promise<string> => {
  try {
    return (await connection.request(subject, JSON.stringify(body), { timeout: timeoutMs })).string();
  } catch (error) {
    return String(error instanceof Error && "code" in error ? error.code : error);
  }
};

/** Command lines of living processes that contain this directory. A zombie has none. */
const processesOf = (directory: string): readonly string[] =>
  execFileSync("ps", ["-ww", "-A", "-o", "stat=,args="], { encoding: "utf8" })
    .split("\n")
    .filter(
      (line) => line.includes(directory) && !line.startsWith("Z") && !line.includes("broker-parent.ts"),
    );

/** Neither the shell around the server nor what it starts to read the server's log (src/nats/broker/server-process.ts). */
const serversOf = (directory: string): readonly string[] =>
  processesOf(directory).filter((line) => !line.includes("/bin/sh") && line.includes(" -c "));

const program = async (path: string, text: string): Promise<string> => {
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
  return path;
};

describe("the embedded broker", () => {
  test("each user connects with its own URL, and nobody connects without a password", async () => {
    await using broker = await startTestBroker();
    for (const user of ["service", "provisioner", "consumer"] as const) {
      await using connection = await connectAs(broker, user);
      expect(connection.info?.jetstream).toBe(true);
      expect(connection.info?.version).toBe(broker.version);
    }
    expect(connect({ servers: `127.0.0.1:${broker.port}`, reconnect: false })).rejects.toThrow();
  });

  test("the running service can append and read, but cannot change or empty a stream", async () => {
    await using broker = await startTestBroker();
    await provision(broker);
    await using service = await connectAs(broker, "service");
    const appended = await ask(service, "audit.acme.asset.decision.made", { some: "event" });
    expect(JSON.parse(appended)).toEqual({ stream: "AUDIT", seq: 1 });
    for (const { name, settings } of STREAMS) {
      for (const call of [
        "STREAM.UPDATE",
        "STREAM.DELETE",
        "STREAM.PURGE",
        "STREAM.MSG.DELETE",
        "STREAM.CREATE",
      ]) {
        const answer = await ask(service, `$JS.API.${call}.${name}`, { name, ...settings, seq: 1 });
        expect(`${call}.${name}: ${answer}`).toBe(`${call}.${name}: PERMISSIONS_VIOLATION`);
      }
    }
    const information = JSON.parse(await ask(service, "$JS.API.STREAM.INFO.AUDIT", {}));
    expect(information.state.messages).toBe(1);
  });

  test("a consumer can follow the log but not write to it, whatever it asks the server to send there", async () => {
    await using broker = await startTestBroker();
    await provision(broker);
    const { host, username, password } = new URL(
      (await readFile(join(broker.directory, "consumer.url"), "utf8")).trim(),
    );
    await using consumer = Object.assign(await connect({ servers: host, user: username, pass: password }), {
      [Symbol.asyncDispose]: () => consumer.close(),
    });
    const followed = consumer.subscribe("audit.>", { max: 1 });
    await consumer.flush();
    await using service = await connectAs(broker, "service");
    await ask(service, "audit.acme.asset.decision.made", { some: "event" });
    for await (const message of followed) expect(message.subject).toBe("audit.acme.asset.decision.made");
    await ask(service, "checkpoint.acme", { some: "tree head" });

    const forged = "audit.acme.asset.decision.forged";
    expect(await ask(consumer, forged, {})).toBe("PERMISSIONS_VIOLATION");
    expect(await ask(consumer, "$JS.API.STREAM.DELETE.AUDIT", {})).toBe("PERMISSIONS_VIOLATION");
    const manager = await consumer.jetstreamManager({ checkAPI: false });
    const everything = { ack_policy: AckPolicy.Explicit, deliver_policy: DeliverPolicy.All };
    await manager.consumers.add("CHECKPOINTS", { durable_name: "pulled", ...everything });
    // The subject has a subscriber before a push consumer delivers to it, as the server requires. The answers arrive at the inbox, and end there.
    const heard: string[] = [];
    consumer.subscribe(forged, { callback: (_error, message) => void heard.push(message.string()) });
    for (const [subject, body] of [
      ["STREAM.INFO.AUDIT", {}],
      ["STREAM.MSG.GET.CHECKPOINTS", { seq: 1 }],
      ["DIRECT.GET.AUDIT", { seq: 1 }],
      ["CONSUMER.MSG.NEXT.CHECKPOINTS.pulled", { batch: 1, expires: 1_000_000_000 }],
    ] as const)
      consumer.publish(`$JS.API.${subject}`, JSON.stringify(body), { reply: forged });
    await until("each is answered", () => heard.length === 4);
    // An answer without a body, such as the one about a missing message, is enough to delete the stream.
    const deletion = "$JS.API.STREAM.DELETE.AUDIT";
    consumer.publish("$JS.API.DIRECT.GET.AUDIT", '{"seq":99}', { reply: deletion });
    await consumer.flush();
    expect(await ask(consumer, "$JS.API.STREAM.INFO.AUDIT", {})).toContain('"name":"AUDIT"');
    const duty = "obligation.acme.asset.OBJ-ACK.late";
    consumer.subscribe(duty);
    await manager.consumers.add("CHECKPOINTS", { deliver_subject: duty, name: "pushed", ...everything });
    await manager.consumers.add("CHECKPOINTS", {
      deliver_subject: "_INBOX_consumer.pushed",
      name: "pushed_rightly",
      ...everything,
    });
    for await (const message of consumer.subscribe("_INBOX_consumer.pushed", { max: 1 }))
      expect(message.subject).toBe("checkpoint.acme");
    expect((await manager.consumers.info("CHECKPOINTS", "pushed")).delivered.consumer_seq).toBe(0);
    for (const [stream, last] of [
      ["AUDIT", 1],
      ["OBLIGATIONS", 0],
    ] as const)
      expect(JSON.parse(await ask(service, `$JS.API.STREAM.INFO.${stream}`, {})).state.last_seq).toBe(last);
  });

  test("a consumer cannot read the answers to the service's requests", async () => {
    await using broker = await startTestBroker();
    await provision(broker);
    await using service = await connectAs(broker, "service");
    await using consumer = await connectAs(broker, "consumer");
    const heard: string[] = [];
    consumer.subscribe("_INBOX.>", { callback: (_error, message) => void heard.push(message.string()) });
    await consumer.flush();
    await ask(service, "$KV.KEYS.key_1", { secret_hash: "secret" });
    expect(await ask(service, "$JS.API.DIRECT.GET.KV_KEYS", { seq: 1 })).toContain("secret");
    // This is answered after all that, so everything that could be heard has arrived.
    expect(await ask(consumer, "$JS.API.STREAM.INFO.AUDIT", {})).toContain("AUDIT");
    expect(heard.filter((text) => !text.includes("AUDIT"))).toEqual([]);
  });

  test("only their owner can read the files with passwords", async () => {
    await using broker = await startTestBroker();
    for (const name of ["credentials.json", "consumer.url", "nats-server.conf"]) {
      const { mode } = await stat(join(broker.directory, name));
      expect(`${name} ${(mode & 0o777).toString(8)}`).toBe(`${name} 600`);
    }
  });

  test("after kill -9 of the shell around the server one server runs again, not two", async () => {
    await using broker = await startTestBroker();
    const { pid } = broker;
    const shell = Number(execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }));
    process.kill(shell, "SIGKILL");
    await until("another server runs", () => broker.pid !== pid);
    await until("the shell's watcher has ended", () => processesOf(broker.directory).length === 3);
    const servers = serversOf(broker.directory);
    expect(servers).toHaveLength(1);
  });

  test("a stop leaves no process, and the next start has the same URLs", async () => {
    await using directory = await dataFolder();
    const options = { binary: await testBrokerBinary(), directory: directory.path, logger: silentLogger };
    const first = await startBroker(options);
    await first.stop();
    expect(processesOf(directory.path)).toEqual([]);
    await using second = await startBroker(options);
    expect(second.url("consumer")).toBe(first.url("consumer"));
  });

  test("a process of another service that has the old broker's process id is left alone, even if its path ends like ours", async () => {
    await using directory = await dataFolder();
    const files = brokerFiles(directory.path);
    const parameters = ["-c", "read -r _", "nats-server", "-c", `/elsewhere${files.configuration}`];
    const other = spawn("/bin/sh", parameters, { stdio: ["pipe", "ignore", "ignore"] });
    await mkdir(files.run, { recursive: true });
    await writeFile(files.pid, `${other.pid}\n`);
    const told: string[] = [];
    await endLeftover(files, { ...silentLogger, warn: (message) => void told.push(message) });
    other.kill("SIGKILL");
    expect(told).toEqual([]);
  });

  test("a port that another program took meanwhile is left to it, and the broker takes another", async () => {
    await using directory = await dataFolder();
    const options = { binary: await testBrokerBinary(), directory: directory.path, logger: silentLogger };
    const first = await startBroker(options);
    await first.stop();
    await using other = createTcpServer();
    await new Promise<void>((resolve) => other.listen(first.port, "127.0.0.1", resolve));
    await using second = await startBroker(options);
    expect(second.port).not.toBe(first.port);
  });

  test("if a server cannot start, the error shows the server's own message", async () => {
    await using directory = await dataFolder();
    const binary = await program(join(directory.path, "broken"), "echo the disk is on fire >&2; exit 3");
    const start = startBroker({ binary, directory: join(directory.path, "data"), logger: silentLogger });
    expect(start).rejects.toThrow(/exit status 3[\s\S]*the disk is on fire/);
    await start.catch(() => undefined);
    lockInstance(join(directory.path, "data"))();
  });
});

const root = join(import.meta.dirname, "../..");
const RUNTIMES: readonly (readonly [string, readonly string[]])[] = [
  ["Bun", [process.execPath]],
  ["Deno", [join(root, "node_modules/.bin/deno"), "run", "-A", "--node-modules-dir=manual"]],
];

/** A separate process that has started a broker. It is stopped when disposed, if it still runs. */
const startParent = async (command: readonly string[], directory: string) => {
  const [executable = "", ...parameters] = command;
  const script = join(import.meta.dirname, "broker-parent.ts");
  const child = spawn(executable, [...parameters, script, await testBrokerBinary(), directory], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve())).then(() => {
    hasEnded = true;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const told: { pid: number } = JSON.parse(line);
    // The process itself: Deno's launcher is a different process, and ends after it.
    const kill = async (signal: NodeJS.Signals): Promise<void> => {
      if (!hasEnded) process.kill(told.pid, signal);
      await ended;
    };
    return { pid: told.pid, kill, [Symbol.asyncDispose]: () => kill("SIGTERM") };
  }
  throw new Error("the parent process ended before it had a broker");
};

describe.each(RUNTIMES)("a broker owned by a process on %s", (_name, command) => {
  // 1. The server is stopped (SIGSTOP), so that it outlives its owner. 2. The owner is killed, and the next one starts.
  // 3. While the next one waits, there is one server. 4. The first server resumes, and ends because its owner is gone.
  test("the next owner waits for a broker that still runs, so two servers never share one store", async () => {
    await using directory = await dataFolder();
    await using parent = await startParent(command, directory.path);
    const pid = Number(await readFile(join(directory.path, "run/nats-server.pid"), "utf8"));
    process.kill(pid, "SIGSTOP");
    await parent.kill("SIGKILL");
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) };
    const next = startBroker({ binary: await testBrokerBinary(), directory: directory.path, logger });
    await until("the next owner waits", () => warnings.length > 0);
    expect(serversOf(directory.path)).toHaveLength(1);
    process.kill(pid, "SIGCONT");
    await using broker = await next;
    expect(broker.pid).not.toBe(pid);
  });
});

describe("finding a nats-server", () => {
  const nothing = { PATH: "", HOME: "/nonexistent" };

  test.each<readonly [string, string, string, string | RegExp]>([
    [
      "is older than 2.12.1",
      "/bin/sh",
      "echo nats-server: v2.9.10",
      /NATS_SERVER_BIN names .*2\.9\.10, older than/,
    ],
    ["names nothing", "", "", "there is no such program"],
    ["is no nats-server", "/bin/sh", "echo hello", "does not print its version"],
    ["lacks something", "/nonexistent/loader", "", "loader"],
  ])(
    "a NATS_SERVER_BIN that %s is refused, and nothing else is used or suggested instead",
    async (_, interpreter, text, reason) => {
      await using directory = await dataFolder();
      const path = join(directory.path, "nats-server");
      if (interpreter !== "") await writeFile(path, `#!${interpreter}\n${text}\n`, { mode: 0o755 });
      const options = { environment: process.env, logger: silentLogger };
      const told = await findBroker({ ...options, explicitBinary: path }).then(String, String);
      expect(told).toMatch(reason);
      expect(told).toContain("leave out NATS_SERVER_BIN");
      expect(told).not.toContain("install nats-server");
    },
  );

  test("a server on PATH that is too old is skipped, and the one in the cache is used", async () => {
    await using directory = await dataFolder();
    await mkdir(join(directory.path, "bin"));
    await program(join(directory.path, "bin/nats-server"), "echo nats-server: v2.9.10");
    const cached = join(directory.path, "cache/prooftrail/nats-server-2.15.1");
    await mkdir(cached, { recursive: true });
    await symlink(await testBrokerBinary(), join(cached, "nats-server"));
    const environment = { PATH: join(directory.path, "bin"), XDG_CACHE_HOME: join(directory.path, "cache") };
    const outcome = await findBroker({ explicitBinary: undefined, environment, logger: silentLogger });
    const inUsrSbin = "/usr/sbin/nats-server";
    expect([inUsrSbin, join(cached, "nats-server")]).toContain(outcome.binary);
    expect(outcome.version).not.toBe("2.9.10");
  });

  test("a cache given relative to the start folder is found from the broker's folder too", async () => {
    await using directory = await dataFolder();
    const cached = join(directory.path, "cache/prooftrail/nats-server-2.15.1");
    await mkdir(cached, { recursive: true });
    await symlink(await testBrokerBinary(), join(cached, "nats-server"));
    const environment = {
      ...nothing,
      XDG_CACHE_HOME: relative(process.cwd(), join(directory.path, "cache")),
    };
    const outcome = await findBroker({ explicitBinary: undefined, environment, logger: silentLogger });
    expect(outcome).toMatchObject({ binary: expect.stringMatching(/^\//) });
  });

  test.skipIf(existsSync("/usr/sbin/nats-server"))(
    "if no server can be found, the error says what was tried and names the three ways out",
    async () => {
      await using directory = await dataFolder();
      const notADirectory = await program(join(directory.path, "file"), "");
      const environment = { ...nothing, XDG_CACHE_HOME: notADirectory };
      const options = { explicitBinary: undefined, environment, logger: silentLogger };
      const told = await findBroker(options).then(() => "it found one", String);
      for (const part of [
        "official release archive: ",
        "Debian package: ",
        "on PATH",
        "NATS_SERVER_BIN",
        "NATS_URL",
      ]) {
        expect(told).toContain(part);
      }
    },
  );
});

test.skipIf(!existsSync("/usr/bin/apt-get")).each([
  ["deb https://mirror.example.invalid/debian bookworm contrib", "no apt source"],
  ["deb https://mirror.example.invalid/debian-security bookworm-security main", "no apt source"],
  ["deb file:/srv/packages bookworm main", "no apt source"],
  ["deb [arch=amd64] https://mirror.example.invalid/debian bookworm main # near", "mirror.example.invalid"],
])(
  "only Debian's main archive on a mirror of this machine is asked for a package: %s",
  async (line, told) => {
    await using directory = await dataFolder();
    const sources = join(directory.path, "own.list");
    await writeFile(sources, `${line}\n`);
    await writeFile(
      join(directory.path, "apt.conf"),
      `Dir::Etc::sourcelist "${sources}"; Dir::Etc::sourceparts "/dev/null"; Acquire::Retries "0";`,
    );
    process.env.APT_CONFIG = join(directory.path, "apt.conf");
    try {
      const attempt = unpackDebianPackage(directory.path);
      await expect(attempt).rejects.toThrow(told);
    } finally {
      delete process.env.APT_CONFIG;
    }
  },
);

describe("downloading a release", () => {
  const ENTRY = "nats-server-v9.9.9-any/nats-server";

  /** A server that offers one archive, made here with the program in it. */
  const serveArchive = async (directory: string) => {
    await mkdir(join(directory, "made/nats-server-v9.9.9-any"), { recursive: true });
    await program(join(directory, "made", ENTRY), "echo nats-server: v9.9.9");
    const path = join(directory, "archive.tar.gz");
    execFileSync("tar", ["-czf", path, "-C", join(directory, "made"), ENTRY]);
    const bytes = await readFile(path);
    const server = createServer((_request, response) => response.end(bytes));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return {
      url: `http://127.0.0.1:${address.port}/`,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      [Symbol.asyncDispose]: async () => void server.close(),
    };
  };

  test("an archive with the pinned SHA-256 is unpacked", async () => {
    await using directory = await dataFolder();
    await using served = await serveArchive(directory.path);
    const target = join(directory.path, "target");
    await mkdir(target);
    const { url, sha256 } = served;
    expect(await downloadRelease({ url, sha256, entry: ENTRY }, target)).toBe(join(target, ENTRY));
    expect(execFileSync(join(target, ENTRY), { encoding: "utf8" })).toBe("nats-server: v9.9.9\n");
  });

  test("an archive with another SHA-256 is refused, and nothing of it is written", async () => {
    await using directory = await dataFolder();
    await using served = await serveArchive(directory.path);
    const target = join(directory.path, "target");
    await mkdir(target);
    const sha256 = "0".repeat(64);
    const attempt = downloadRelease({ url: served.url, sha256, entry: ENTRY }, target);
    await expect(attempt).rejects.toThrow("not the pinned");
    expect(await readdir(target)).toEqual([]);
  });
});

test.each(["INFO {oops}", "INFO 1", "INFO {}", "HTTP/1.1 400 Bad Request"])(
  "a program that answers with %p on the broker's port is not taken for a broker",
  async (line) => {
    const server = createTcpServer((socket) => socket.end(`${line}\r\n`));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    try {
      const address = server.address();
      if (address === null || typeof address === "string") throw new Error("no port");
      expect(await readServerInfo(address.port)).toBeUndefined();
    } finally {
      server.close();
    }
  },
);
