/** Three brokers with three replicas, and two front ends and a projector that share one folder for the views, as in compose.yaml. */
import { settingsFor } from "../support/broker.ts";
import { brokerWarnings, NODES, startTestCluster } from "../support/cluster.ts";
import { createChance } from "../support/histories/chance.ts";
import { dataFolder, type ServiceProcess, spawnService } from "../support/process.ts";
import { ADMIN_KEY } from "../support/service.ts";
import { alarmsIn, end, pause, type Scenario, type Scene, type ScheduledFault } from "./scene.ts";

const FAULTS = [
  "kill_leader",
  "kill_front_end",
  "pause_leader",
  "kill_projector",
  "restart_each_node",
  "kill_all_nodes",
  "pause_front_end",
  "pause_projector",
] as const;
type Fault = (typeof FAULTS)[number];

export const cluster: Scenario<Fault> = {
  name: "cluster",
  faults: [...FAULTS],
  load: { senders: 8, restMs: 0, batchEventsMax: 200 },
  open: async () => openScene(),
};

const openScene = async (): Promise<Scene<Fault>> => {
  await using stack = new AsyncDisposableStack();
  const brokers = stack.use(await startTestCluster());
  const { path } = stack.use(await dataFolder());
  const start = (roles: string): Promise<ServiceProcess> =>
    spawnService({
      dataDir: path,
      environment: {
        ADMIN_API_KEY: ADMIN_KEY,
        LOG_LEVEL: "warn",
        ROLES: roles,
        STREAM_REPLICAS: "3",
        ...settingsFor(brokers),
      },
    });
  const startFrontEnd = async (): Promise<ServiceProcess> => {
    const frontEnd = await start("api");
    await frontEnd.untilReady();
    return frontEnd;
  };
  const frontEnds = [await startFrontEnd(), await startFrontEnd()];
  let projector = await start("projector");
  /** Projectors that another projector has replaced. */
  const retired: ServiceProcess[] = [];
  stack.defer(async () => {
    for (const process of [...frontEnds, ...retired, projector]) await end(process, "SIGKILL");
  });
  // The schedule does not say which of the two is asked and which is killed; either will do.
  const chance = createChance(1);

  const strike = async ({ kind, lastsMs }: ScheduledFault<Fault>): Promise<void> => {
    switch (kind) {
      case "kill_leader": {
        const leader = await brokers.leader();
        await brokers.kill(leader, "SIGKILL");
        await pause(lastsMs);
        return brokers.start(leader);
      }
      case "pause_leader": {
        const leader = await brokers.leader();
        brokers.signal(leader, "SIGSTOP");
        await pause(lastsMs);
        return brokers.signal(leader, "SIGCONT");
      }
      case "restart_each_node":
        for (const node of NODES) {
          await brokers.kill(node, "SIGTERM");
          await brokers.start(node);
          await brokers.untilCaughtUp();
        }
        return;
      case "kill_all_nodes":
        await Promise.all(NODES.map((node) => brokers.kill(node, "SIGKILL")));
        await Promise.all(NODES.map((node) => brokers.start(node)));
        return;
      case "kill_front_end": {
        const index = chance.below(2);
        const killed = frontEnds[index];
        if (killed) await end(killed, "SIGKILL");
        frontEnds[index] = await startFrontEnd();
        return;
      }
      case "pause_front_end": {
        const paused = frontEnds[chance.below(2)];
        paused?.kill("SIGSTOP");
        await pause(lastsMs);
        paused?.kill("SIGCONT");
        return;
      }
      case "pause_projector": {
        // Another projector replaces it meanwhile; then both believe that they are the active one.
        const paused = projector;
        paused.kill("SIGSTOP");
        projector = await start("projector");
        retired.push(paused);
        await pause(lastsMs);
        paused.kill("SIGCONT");
        await pause(lastsMs);
        await end(paused, "SIGKILL");
        return;
      }
      case "kill_projector":
        await end(projector, "SIGKILL");
        projector = await start("projector");
        return;
    }
  };
  const kept = stack.move();
  return {
    warnings: () => {
      const ended = [...frontEnds, projector].filter(({ exitCode }) => exitCode !== null);
      const told = ended.map(({ exitCode, errors }) => `a process ended with ${exitCode}: ${errors}`);
      const projecting = `the projector said last: ${projector.output.slice(-2_000)}`;
      return [brokerWarnings(brokers.folder), ...told, projecting].join("\n");
    },
    alarms: () => alarmsIn([...retired, projector]),
    call: async (url, options) => {
      const frontEnd = frontEnds[chance.below(2)];
      if (!frontEnd) throw new Error("there are two front ends");
      return frontEnd.call(url, options);
    },
    consumerUrl: () => brokers.url("consumer"),
    strike,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
