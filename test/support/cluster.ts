/** Three real brokers that replicate to each other, with the permissions and the durability of compose.yaml; removed when disposed. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClusterInfo, connect, type NatsConnection } from "nats";
import { type BrokerFiles, brokerFiles } from "../../src/nats/broker/broker-files.ts";
import { configure } from "../../src/nats/broker/configure.ts";
import { isPortFree, readServerInfo } from "../../src/nats/broker/server-info.ts";
import { reconcileStreams } from "../../src/nats/reconcile.ts";
import { topology } from "../../streams/topology.ts";
import { silentLogger, testBrokerBinary } from "./broker.ts";
import { until } from "./until.ts";
import { within } from "./within.ts";

export const NODES = [0, 1, 2] as const;
type NodeIndex = (typeof NODES)[number];
export const CREDENTIALS = { service: "s", provisioner: "p", consumer: "c" };

export type TestCluster = Awaited<ReturnType<typeof startTestCluster>>;

interface Node {
  readonly files: BrokerFiles;
  readonly port: number;
  readonly routePorts: readonly number[];
  readonly routePort: number;
}

const ownConfiguration = ({ files, port, routePorts, routePort }: Node): string => {
  const routes = routePorts.map((each) => `nats://127.0.0.1:${each}`);
  return `${configure({ files, credentials: CREDENTIALS, port, servers: NODES.length })}cluster {
  name: "test"
  listen: "127.0.0.1:${routePort}"
  routes: ${JSON.stringify(routes)}
}
`;
};

export const startTestCluster = async (configurationOf = ownConfiguration) => {
  const binary = await testBrokerBinary();
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-cluster-"));
  const ports = await freePorts(6);
  const [clientPorts, routePorts] = [ports.slice(0, 3), ports.slice(3)];
  const children: (ChildProcess | undefined)[] = [];

  const start = async (node: NodeIndex): Promise<void> => {
    const files = brokerFiles(join(folder, `node-${node}`));
    await rm(files.run, { recursive: true, force: true });
    await mkdir(files.run, { recursive: true });
    const [port = 0, routePort = 0] = [clientPorts[node], routePorts[node]];
    await writeFile(files.configuration, configurationOf({ files, port, routePorts, routePort }));
    const own = ["-c", files.configuration, "--name", `node-${node}`];
    children[node] = spawn(binary, own, { stdio: "ignore" });
    await until(`node ${node} answers`, () => readServerInfo(port));
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
    /** Folder of the nodes' own folders. */
    folder,
    /** All three, with the credentials of a broker user. */
    url: (user: keyof typeof CREDENTIALS): string =>
      clientPorts.map((port) => `nats://${user}:${CREDENTIALS[user]}@127.0.0.1:${port}`).join(","),
    kill,
    /** Does not wait: a stopped node does not end. */
    signal: (node: NodeIndex, signal: "SIGSTOP" | "SIGCONT"): void => void children[node]?.kill(signal),
    start,
    /** The node that leads the log. */
    leader: async (): Promise<NodeIndex> => {
      const name = await onLog("the log has a leader", (log) => log?.leader);
      return NODES.find((node) => name === `node-${node}`) ?? 0;
    },
    /** Resolves when every replica of the log has caught up, which an operator waits for between two restarts. */
    untilCaughtUp: async (): Promise<void> => {
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
