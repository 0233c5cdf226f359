/** Three real brokers that replicate to each other, with the permissions and the durability of compose.yaml; removed when disposed. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClusterInfo, connect, type NatsConnection } from "nats";
import { brokerFiles } from "../../src/nats/broker/broker-files.ts";
import { configure } from "../../src/nats/broker/configure.ts";
import { isPortFree, readServerInfo } from "../../src/nats/broker/server-info.ts";
import { reconcileStreams } from "../../src/nats/reconcile.ts";
import { topology } from "../../streams/topology.ts";
import { silentLogger, testBrokerBinary } from "./broker.ts";
import { until } from "./until.ts";
import { within } from "./within.ts";

export const NODES = [0, 1, 2] as const;
type NodeIndex = (typeof NODES)[number];
const CREDENTIALS = { service: "s", provisioner: "p", consumer: "c" };

export interface TestCluster extends AsyncDisposable {
  /** All three, with the credentials of a broker user. */
  url(user: keyof typeof CREDENTIALS): string;
  kill(node: NodeIndex, signal: NodeJS.Signals): Promise<void>;
  /** Does not wait: a stopped node does not end. */
  signal(node: NodeIndex, signal: "SIGSTOP" | "SIGCONT"): void;
  start(node: NodeIndex): Promise<void>;
  /** Folder of the nodes' own folders. */
  readonly folder: string;
  /** The node that leads the log. */
  leader(): Promise<NodeIndex>;
  /** Resolves when every replica of the log has caught up, which an operator waits for between two restarts. */
  untilCaughtUp(): Promise<void>;
}

export const startTestCluster = async (): Promise<TestCluster> => {
  const binary = await testBrokerBinary();
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-cluster-"));
  const ports = await freePorts(6);
  const [clientPorts, routePorts] = [ports.slice(0, 3), ports.slice(3)];
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`);
  const children: (ChildProcess | undefined)[] = [];

  const start = async (node: NodeIndex): Promise<void> => {
    const files = brokerFiles(join(folder, `node-${node}`));
    await rm(files.run, { recursive: true, force: true });
    await mkdir(files.run, { recursive: true });
    const port = clientPorts[node];
    const own = configure({ files, credentials: CREDENTIALS, port, servers: NODES.length }).replace(
      'server_name: "prooftrail"',
      `server_name: "node-${node}"`,
    );
    const cluster = `cluster {\n  name: "test"\n  listen: "127.0.0.1:${routePorts[node]}"\n  routes: ${JSON.stringify(routes)}\n}\n`;
    await writeFile(files.configuration, own + cluster);
    children[node] = spawn(binary, ["-c", files.configuration], { stdio: "ignore" });
    await until(`node ${node} answers`, () => readServerInfo(port ?? 0));
  };
  const kill = async (node: NodeIndex, signal: NodeJS.Signals): Promise<void> => {
    const child = children[node];
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await within(`node ${node} has ended after ${signal}`, ended);
  };
  const connectAs = (user: keyof typeof CREDENTIALS): Promise<NatsConnection> =>
    connect({ servers: clientPorts.map((port) => `127.0.0.1:${port}`), user, pass: CREDENTIALS[user] });

  const onLog = async <Value>(
    what: string,
    read: (log: ClusterInfo | undefined) => Value | undefined | false,
  ): Promise<Value> => {
    const ask = async () => {
      const provisioner = await connectAs("provisioner").catch(() => undefined);
      try {
        const manager = await provisioner?.jetstreamManager({ checkAPI: false });
        return read((await manager?.streams.info("AUDIT").catch(() => undefined))?.cluster);
      } finally {
        await provisioner?.close();
      }
    };
    const broken = (error: unknown): never => {
      throw new Error(`${String(error)}\n${brokerWarnings(folder)}`);
    };
    return await until(what, ask).catch(broken);
  };

  await Promise.all(NODES.map(start));
  await until("the cluster has its streams", async () => {
    const provisioner = await connectAs("provisioner").catch(() => undefined);
    if (!provisioner) return false;
    const result = await reconcileStreams({
      provisioner,
      definitions: topology({ replicas: 3 }),
      logger: silentLogger,
    });
    await provisioner.close();
    return result.kind === "agreed";
  });

  return {
    folder,
    url: (user) =>
      clientPorts.map((port) => `nats://${user}:${CREDENTIALS[user]}@127.0.0.1:${port}`).join(","),
    kill,
    signal: (node, signal) => void children[node]?.kill(signal),
    start,
    leader: async () => {
      const name = await onLog("the log has a leader", (log) => log?.leader);
      return NODES.find((node) => name === `node-${node}`) ?? 0;
    },
    untilCaughtUp: async () => {
      const hasAll = (log: ClusterInfo | undefined): boolean =>
        log?.leader !== undefined &&
        log.replicas?.length === NODES.length - 1 &&
        log.replicas.every(({ current, offline }) => current && offline !== true);
      await onLog("every replica of the log has caught up", hasAll);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(NODES.map((node) => kill(node, "SIGKILL")));
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** The errors that the brokers logged, for the message of a test that waits in vain. */
export const brokerWarnings = (folder: string): string =>
  NODES.map((node) => {
    const log = readFileSync(brokerFiles(join(folder, `node-${node}`)).log, "utf8");
    const lines = log.split("\n").filter((line) => /\[(WRN|ERR)\]/.test(line) && !line.includes("route"));
    return [`node ${node}:`, ...lines.slice(-8)].join("\n  ");
  }).join("\n");

/**
 * Below the range from which systems take ports for outgoing connections (32768 and up on Linux): while a node is down, no other connection may
 * get its port.
 */
const PORTS = { from: 12_000, to: 32_000 };

export const freePorts = async (count: number): Promise<number[]> => {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    if (await isPortFree(port)) ports.add(port);
  }
  return [...ports];
};
