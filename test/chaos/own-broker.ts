/** One service with the broker that it starts itself: on the machine's disk, or on a small disk that can be filled. */
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { whileDiskIsFull } from "../support/full-disk.ts";
import { mountDisk } from "../support/memory-disk.ts";
import {
  brokerPid,
  dataFolder,
  processesNaming,
  removeStaged,
  type ServiceProcess,
  spawnService,
} from "../support/process.ts";
import { ADMIN_KEY } from "../support/service.ts";
import { until } from "../support/until.ts";
import { alarmsIn, end, pause, type Scenario, type Scene, type ScheduledFault } from "./scene.ts";

const ON_ONE_BROKER = ["kill_service", "kill_broker", "kill_both", "pause_broker"] as const;
const ON_SMALL_DISK = [
  "fill_disk",
  "fill_disk_kill_service",
  "fill_disk_kill_broker",
  "fill_disk_kill_both",
] as const;
type Fault = (typeof ON_ONE_BROKER)[number] | (typeof ON_SMALL_DISK)[number];

export const single: Scenario<Fault> = {
  name: "single",
  faults: [...ON_ONE_BROKER],
  load: { senders: 8, restMs: 0, batchEventsMax: 200 },
  open: async () => openScene(undefined),
};

/** It works only if a user may mount their own memory disk; see `unshare(1)`. */
export const disk: Scenario<Fault> = {
  name: "disk",
  faults: [...ON_SMALL_DISK],
  // One round must fit on the disk.
  load: { senders: 2, restMs: 20, batchEventsMax: 200 },
  open: async () => openScene(DISK_MIB),
};

export interface OwnBrokerScene extends Scene<Fault> {
  /** Fills the disk, runs `work`, and frees the disk. */
  whileFull(work: () => Promise<void>): Promise<void>;
  /** Stops the service as an operator does, or kills it, and starts it again. */
  restart(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** The disk holds some blocks of the log, and fills quickly. */
export const openOnSmallDisk = (): Promise<OwnBrokerScene> => openScene(SMALL_DISK_MIB);

const DISK_MIB = 512;
const SMALL_DISK_MIB = 96;

const openScene = async (diskMib: number | undefined): Promise<OwnBrokerScene> => {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await dataFolder());
  const mount = diskMib === undefined ? undefined : stack.use(await mountDisk(path, diskMib));
  const inside = `${mount?.root ?? ""}${path}`;
  const start = async (): Promise<ServiceProcess> => {
    const started = await spawnService({
      dataDir: path,
      environment: { ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: "warn" },
      through: mount?.enter ?? [],
    });
    await started.untilReady();
    return started;
  };
  let service = await start();
  stack.defer(async () => {
    await end(service, "SIGKILL");
    await removeStaged(inside);
  });
  const killService = async (): Promise<void> => {
    await end(service, "SIGKILL");
    await until("nothing runs in the folder", () => processesNaming(path).length === 0);
  };
  const signalBroker = (signal: NodeJS.Signals): void => {
    const pid = brokerPid(inside);
    try {
      process.kill(pid, signal);
    } catch (error) {
      // The service has stopped the broker itself, because it stores nothing, and starts none while the disk is full.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  };

  const whileFull: OwnBrokerScene["whileFull"] = async (work) => {
    const filler = join(inside, "filler");
    await whileDiskIsFull(filler, work);
    await rm(filler);
  };
  const strike = async ({ kind, lastsMs }: ScheduledFault<Fault>): Promise<void> => {
    if (kind === "pause_broker") {
      signalBroker("SIGSTOP");
      await pause(lastsMs);
      signalBroker("SIGCONT");
      return;
    }
    const isGone = kind.endsWith("kill_service") || kind.endsWith("kill_both");
    const kill = async (): Promise<void> => {
      if (kind.endsWith("kill_broker") || kind.endsWith("kill_both")) signalBroker("SIGKILL");
      if (isGone) await killService();
    };
    if (kind.startsWith("fill_disk"))
      await whileFull(async () => {
        await pause(lastsMs / 2);
        await kill();
        await pause(lastsMs / 2);
      });
    else await kill();
    if (isGone) service = await start();
  };
  const kept = stack.move();
  return {
    alarms: () => alarmsIn([service]),
    warnings: () => `${service.errors}${service.output}`.slice(-2_000),
    call: (url, options) => service.call(url, options),
    consumerUrl: () => readFileSync(join(inside, "broker/consumer.url"), "utf8").trim(),
    strike,
    whileFull,
    restart: async (signal = "SIGTERM") => {
      await end(service, signal);
      service = await start();
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
