/**
 * compose.yaml as local processes: three brokers with its configuration, PostgreSQL, two front ends, two projectors and haproxy. Brokers are killed, paused
 * and stopped, and what was acknowledged is counted before and after.
 */
import { expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { testBrokerBinary } from "../support/broker.ts";
import { freePorts } from "../support/cluster.ts";
import { debianProgram } from "../support/debian-program.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";
import { dataFolder, type ServiceProcess, spawnService } from "../support/process.ts";
import { ADMIN_KEY, createCaller, event } from "../support/service.ts";
import { until } from "../support/until.ts";

const haproxy = await debianProgram(
  ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"],
  "usr/sbin/haproxy",
);
const missing = noPostgresReason ?? (haproxy.kind === "missing" ? haproxy.reason : undefined);

const Compose = Type.Object({
  configs: Type.Record(Type.String(), Type.Object({ content: Type.String() })),
});
const composeText = await readFile(join(import.meta.dir, "../../compose.yaml"), "utf8");
const { configs } = Value.Parse(Compose, Bun.YAML.parse(composeText));

const NODES = [0, 1, 2] as const;
type NodeIndex = (typeof NODES)[number];
const PASSWORD = "secret";

test.skipIf(missing !== undefined)(
  `a cluster of compose.yaml keeps and counts everything while its brokers fail${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "prooftrail-whole-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const ports = await freePorts(12);
    const port = (index: number): number => ports[index] ?? 0;
    const brokers = await startBrokers(folder, ports);
    stack.use(brokers);

    const database = stack.use(await (await testPostgres()).createDatabase());
    const shared = {
      ADMIN_API_KEY: ADMIN_KEY,
      DATABASE_URL: database.url,
      LOG_LEVEL: "warn",
      STREAM_REPLICAS: "3",
      NATS_URL: brokers.url("service"),
      NATS_PROVISION_URL: brokers.url("provisioner"),
    };
    const start = async (environment: Readonly<Record<string, string>>): Promise<ServiceProcess> => {
      const { path } = stack.use(await dataFolder());
      return stack.use(await spawnService({ dataDir: path, environment: { ...shared, ...environment } }));
    };
    const frontEnds = [
      await start({ ROLES: "api", PORT: String(port(9)), TRUST_PROXY: "1" }),
      await start({ ROLES: "api", PORT: String(port(10)), TRUST_PROXY: "1" }),
    ];
    for (const frontEnd of frontEnds) await frontEnd.untilReady();
    const checkpointKey = "a1".repeat(32);
    await start({ ROLES: "projector,sealer", CHECKPOINT_KEY: checkpointKey });
    await start({ ROLES: "projector,sealer", CHECKPOINT_KEY: checkpointKey });
    const address = `http://127.0.0.1:${port(11)}`;
    stack.use(await startBalancer(folder, { bind: port(11), frontEnds: [port(9), port(10)] }));
    const call = createCaller(address, ADMIN_KEY);

    const readiness = async (): Promise<{ readonly status: number; readonly text: string }> => {
      const [frontEnd] = frontEnds;
      return frontEnd ? frontEnd.call("/health/ready") : { status: 0, text: "" };
    };
    const steps: string[] = [];
    const note = async (step: string): Promise<string> => {
      const { status, text } = await readiness();
      steps.push(`${step}: ${status} ${text}`);
      return text;
    };

    const acknowledged = new Set<string>();
    let made = 0;
    let highest = 0;
    /** Sends a batch until it is acknowledged, as an SDK does. */
    const sendThese = (ids: readonly string[]): Promise<unknown> =>
      until("the batch is acknowledged", async () => {
        const body = { events: ids.map((event_id) => event({ event_id })) };
        const answer = await call("/v1/events/batch?resent=true", { body }).catch(() => undefined);
        if (answer?.status !== 202 || answer.json.data.accepted !== ids.length) return false;
        highest = Math.max(highest, answer.json.data.sequence);
        for (const id of ids) acknowledged.add(id);
        return true;
      });
    const send = (count: number): Promise<unknown> =>
      sendThese(Array.from({ length: count }, () => `evt_${made++}`));
    const untilReady = (): Promise<unknown> =>
      until("the service is ready", async () => (await readiness()).status === 200);
    /** Everything that was acknowledged is shown, and accepted = stored = projected. */
    const balanced = async (): Promise<void> => {
      await until(`the log, the views and the counts agree after ${steps.at(-1)}`, async () => {
        const answer = await call(`/v1/reconciliation?min_sequence=${highest}`).catch(() => undefined);
        return answer?.status === 200 && answer.json.data.is_balanced === true;
      });
      const { json } = await call("/v1/reconciliation");
      const sums = { accepted: 0, stored: 0, projected: 0, repeated: 0 };
      for (const hour of json.data.hours)
        for (const name of ["accepted", "stored", "projected", "repeated"] as const) sums[name] += hour[name];
      // A batch that the broker stored and nobody acknowledged counts when it is sent again, as a duplicate.
      expect(sums).toMatchObject({ projected: acknowledged.size, stored: acknowledged.size + sums.repeated });
      expect(sums.accepted).toBeGreaterThanOrEqual(acknowledged.size);
    };

    await untilReady();
    await send(500);
    await balanced();
    await note("before");

    const killed = await brokers.leader();
    await brokers.end(killed, "SIGKILL");
    await send(500);
    await note("leader killed");
    await brokers.start(killed);
    await untilReady();
    await balanced();

    const paused = await brokers.leader();
    brokers.signal(paused, "SIGSTOP");
    await send(500);
    await note("leader paused");
    brokers.signal(paused, "SIGCONT");
    await untilReady();
    await balanced();

    const [one, two] = [0, 1] as const;
    await Promise.all([brokers.end(one, "SIGKILL"), brokers.end(two, "SIGKILL")]);
    await until("the service is not ready", async () => (await readiness()).status === 503);
    await until("readiness names the quorum", async () => /quorum/i.test((await readiness()).text));
    const reasons = await note("two brokers killed");
    expect(reasons).not.toMatch(/kill/i);
    const refused = await call("/v1/events", { body: event({ event_id: "evt_refused" }) });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("content-type")).toContain("application/problem+json");
    await brokers.start(one);
    await brokers.start(two);
    await untilReady();
    await send(500);
    // What was refused may be stored all the same: a refusal promises nothing.
    await sendThese(["evt_refused"]);
    await balanced();

    for (const node of NODES) await brokers.end(node, "SIGTERM");
    await until("the service is not ready", async () => (await readiness()).status === 503);
    await note("all three stopped");
    for (const node of NODES) await brokers.start(node);
    await untilReady();
    await balanced();
    await send(500);
    await balanced();
    await note("after");

    const shown = new Set<string>();
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await call(`/v1/events?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`);
      for (const { event: stored } of page.json.data) shown.add(stored.event_id);
      cursor = page.json.next_cursor;
    }
    expect([...acknowledged].filter((id) => !shown.has(id))).toEqual([]);
    if (process.env.STEPS_FILE) await writeFile(process.env.STEPS_FILE, `${steps.join("\n")}\n`);
  },
);

interface Brokers extends AsyncDisposable {
  url(user: "service" | "provisioner"): string;
  start(node: NodeIndex): Promise<void>;
  end(node: NodeIndex, signal: NodeJS.Signals): Promise<void>;
  signal(node: NodeIndex, signal: NodeJS.Signals): void;
  leader(): Promise<NodeIndex>;
}

/** Brokers with the configuration of compose.yaml, on loopback. */
const startBrokers = async (folder: string, ports: readonly number[]): Promise<Brokers> => {
  const binary = await testBrokerBinary();
  const children = new Map<NodeIndex, ChildProcess>();
  const port = (node: NodeIndex, which: 0 | 1 | 2): number => ports[3 * which + node] ?? 0;
  const configOf = (node: NodeIndex): string => {
    let text = (configs.nats?.content ?? "")
      .replaceAll(/\$\{NATS_\w+_PASSWORD[^}]*\}/g, PASSWORD)
      .replaceAll("$$", "$")
      .replace('listen: "0.0.0.0:4222"', `listen: "127.0.0.1:${port(node, 0)}"`)
      .replace('http: "127.0.0.1:8222"', `http: "127.0.0.1:${port(node, 1)}"`)
      .replace('listen: "0.0.0.0:6222"', `listen: "127.0.0.1:${port(node, 2)}"`)
      .replace('store_dir: "/data"', `store_dir: ${JSON.stringify(join(folder, `nats-${node + 1}`))}`);
    for (const other of NODES)
      text = text.replaceAll(`@nats-${other + 1}:6222`, `@127.0.0.1:${port(other, 2)}`);
    return text;
  };
  const start = async (node: NodeIndex): Promise<void> => {
    const path = join(folder, `nats-${node + 1}.conf`);
    await writeFile(path, configOf(node));
    const child = spawn(binary, ["--config", path, "--name", `nats-${node + 1}`], { stdio: "ignore" });
    children.set(node, child);
    await until(
      `broker ${node + 1} answers`,
      async () =>
        (await monitored(port(node, 1), "healthz"))?.status !== undefined || child.exitCode !== null,
    );
    if (child.exitCode !== null) throw new Error(`broker ${node + 1} ended with ${child.exitCode}`);
  };
  const end = async (node: NodeIndex, signal: NodeJS.Signals): Promise<void> => {
    const child = children.get(node);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  };
  await mkdir(folder, { recursive: true });
  await Promise.all(NODES.map(start));
  return {
    url: (user) => NODES.map((node) => `nats://${user}:${PASSWORD}@127.0.0.1:${port(node, 0)}`).join(","),
    start,
    end,
    signal: (node, signal) => void children.get(node)?.kill(signal),
    leader: async () =>
      until("the log has a leader", async () => {
        for (const node of NODES) {
          const { text } = (await monitored(port(node, 1), "jsz?streams=true&accounts=true")) ?? {};
          const name = /"name":\s*"AUDIT"[\s\S]*?"leader":\s*"nats-(\d)"/.exec(text ?? "")?.[1];
          if (name !== undefined) return NODES.find((each) => each === Number(name) - 1);
        }
        return undefined;
      }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(
        NODES.map((node) => {
          children.get(node)?.kill("SIGCONT");
          return end(node, "SIGKILL");
        }),
      );
    },
  };
};

const monitored = async (
  port: number,
  path: string,
): Promise<{ readonly status: number; readonly text: string } | undefined> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/${path}`, { signal: AbortSignal.timeout(2_000) });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
};

/** haproxy with the configuration of compose.yaml. Debian's is older than the image's: it knows no UUIDv7 and no status 431. */
const startBalancer = async (
  folder: string,
  { bind, frontEnds }: { readonly bind: number; readonly frontEnds: readonly number[] },
): Promise<AsyncDisposable> => {
  if (haproxy.kind === "missing") throw new Error(haproxy.reason);
  let text = (configs.haproxy?.content ?? "")
    .replaceAll("$$", "$")
    .replaceAll("uuid(7)", "uuid")
    .replaceAll(/^ *(errorfile|option http-drop-request-trailers).*\n/gm, "")
    .replace(/^resolvers docker$[\s\S]*?(?=^\S)/m, "")
    .replaceAll(" resolvers docker init-addr last,libc,none", "")
    .replace("bind :8080", `bind 127.0.0.1:${bind}`);
  for (const [index, port] of frontEnds.entries())
    text = text.replaceAll(`api-${index + 1}:8080`, `127.0.0.1:${port}`);
  const path = join(folder, "haproxy.cfg");
  await writeFile(path, text);
  const child = spawn(haproxy.path, ["-W", "-f", path], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...haproxy.environment },
  });
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (more) => {
    errors += more;
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await until("the balancer answers", async () => {
    if (child.exitCode !== null) throw new Error(`haproxy ended: ${errors}`);
    return fetch(`http://127.0.0.1:${bind}/health/live`).then(
      ({ status }) => status === 200,
      () => false,
    );
  });
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
};
