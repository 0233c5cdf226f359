/**
 * compose.yaml as local processes: three brokers with its configuration, PostgreSQL, two front ends, two projectors and haproxy. Brokers are killed, paused
 * and stopped, and what was acknowledged is counted before and after.
 */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { haproxy, startBalancer } from "../support/balancer.ts";
import { CREDENTIALS, freePorts, NODES, startTestCluster } from "../support/cluster.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";
import { dataFolder, type ServiceProcess, spawnService } from "../support/process.ts";
import { ADMIN_KEY, createCaller, event } from "../support/service.ts";
import { until } from "../support/until.ts";

const missing = noPostgresReason ?? (haproxy.kind === "missing" ? haproxy.reason : undefined);

const Compose = Type.Object({
  configs: Type.Record(Type.String(), Type.Object({ content: Type.String() })),
});
const composeText = await readFile(join(import.meta.dir, "../../compose.yaml"), "utf8");
const { configs } = Value.Parse(Compose, Bun.YAML.parse(composeText));

test.skipIf(missing !== undefined)(
  `a cluster of compose.yaml keeps and counts everything while its brokers fail${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const [one = 0, two = 0, bind = 0] = await freePorts(3);
    const brokers = stack.use(await startTestCluster(composed));

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
      await start({ ROLES: "api", PORT: String(one), TRUST_PROXY: "1" }),
      await start({ ROLES: "api", PORT: String(two), TRUST_PROXY: "1" }),
    ];
    for (const frontEnd of frontEnds) await frontEnd.untilReady();
    const checkpointKey = "a1".repeat(32);
    const projector = await start({ ROLES: "projector,sealer", CHECKPOINT_KEY: checkpointKey });
    await start({ ROLES: "projector,sealer", CHECKPOINT_KEY: checkpointKey });
    const address = `http://127.0.0.1:${bind}`;
    stack.use(await startBalancer(configs.haproxy?.content ?? "", { bind, frontEnds: [one, two] }));
    const call = createCaller(address, ADMIN_KEY);

    const readiness = async (): Promise<{ readonly status: number; readonly text: string }> => {
      const [frontEnd] = frontEnds;
      return frontEnd ? frontEnd.call("/health/ready") : { status: 0, text: "" };
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
      await until("the log, the views and the counts agree", async () => {
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

    // The other projector takes over.
    projector.kill("SIGKILL");
    await send(500);
    await balanced();

    const killed = await brokers.leader();
    await brokers.kill(killed, "SIGKILL");
    await send(500);
    await brokers.start(killed);
    await untilReady();
    await balanced();

    const paused = await brokers.leader();
    brokers.signal(paused, "SIGSTOP");
    await send(500);
    brokers.signal(paused, "SIGCONT");
    await untilReady();
    await balanced();

    await Promise.all([brokers.kill(0, "SIGKILL"), brokers.kill(1, "SIGKILL")]);
    await until("the service is not ready", async () => (await readiness()).status === 503);
    await until("readiness names the quorum", async () => /quorum/i.test((await readiness()).text));
    expect((await readiness()).text).not.toMatch(/kill/i);
    const refused = await call("/v1/events", { body: event({ event_id: "evt_refused" }) });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("content-type")).toContain("application/problem+json");
    await Promise.all([brokers.start(0), brokers.start(1)]);
    await untilReady();
    await send(500);
    // What was refused may be stored all the same: a refusal promises nothing.
    await sendThese(["evt_refused"]);
    await balanced();

    for (const node of NODES) await brokers.kill(node, "SIGTERM");
    await until("the service is not ready", async () => (await readiness()).status === 503);
    for (const node of NODES) await brokers.start(node);
    await untilReady();
    await balanced();
    await send(500);
    await balanced();

    const shown = new Set<string>();
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await call(`/v1/events?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`);
      for (const { event: stored } of page.json.data) shown.add(stored.event_id);
      cursor = page.json.next_cursor;
    }
    expect([...acknowledged].filter((id) => !shown.has(id))).toEqual([]);
  },
);

/** As compose.yaml has it, on loopback. */
const composed: Parameters<typeof startTestCluster>[0] = ({ files, port, routePorts, routePort }) =>
  [1, 2, 3].reduce(
    (text, name, index) => text.replaceAll(`@nats-${name}:6222`, `@127.0.0.1:${routePorts[index]}`),
    (configs.nats?.content ?? "")
      .replaceAll(/\$\{NATS_(\w+)_PASSWORD[^}]*\}/g, (_, user: string) => passwordOf(user.toLowerCase()))
      .replaceAll("$$", "$")
      .replace('listen: "0.0.0.0:4222"', `listen: "127.0.0.1:${port}"`)
      .replace(/^ *http: .*$/m, `log_file: ${JSON.stringify(files.log)}`)
      .replace('listen: "0.0.0.0:6222"', `listen: "127.0.0.1:${routePort}"`)
      .replace('store_dir: "/data"', `store_dir: ${JSON.stringify(files.store)}`),
  );

/** One for all users that are no client. */
const passwordOf = (user: string): string =>
  Object.entries(CREDENTIALS).find(([name]) => name === user)?.[1] ?? "secret";
