/** One service with its own broker under load, and faults drawn from a seed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  ADMIN_KEY,
  dataFolder,
  processesNaming,
  type ServiceProcess,
  spawnService,
} from "../support/process.ts";
import { until } from "../support/until.ts";
import { check, type Verdict } from "./checker.ts";
import { startLoader } from "./loader.ts";
import { type ScheduledFault, type ScheduleOptions, schedule } from "./schedule.ts";

export interface ChaosReport extends Verdict {
  /** Time from the end of each fault to the next acknowledgement. */
  readonly recoveryMs: readonly { readonly fault: string; readonly ms: number }[];
}

export const runSingle = async (
  options: ScheduleOptions & { readonly say: (text: string) => void },
): Promise<ChaosReport> => {
  const { seed, say } = options;
  await using folder = await dataFolder();
  const start = async (): Promise<ServiceProcess> => {
    const started = await spawnService({
      dataDir: folder.path,
      environment: { ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: "warn" },
    });
    await started.untilReady();
    return started;
  };
  let service = await start();
  const loader = startLoader({ seed, call: (path, call) => service.call(path, call) });
  const recoveryMs: { fault: string; ms: number }[] = [];
  try {
    for (const fault of schedule(options)) {
      await pause(fault.afterMs);
      say(
        `${fault.kind}${fault.kind === "pause_broker" ? ` for ${fault.pauseMs} ms` : ""} at ${loader.acknowledged()} acknowledged`,
      );
      const isGone = await strike(fault, { service, dataDir: folder.path });
      const since = performance.now();
      if (isGone) {
        await until("nothing runs in the folder", () => processesNaming(folder.path).length === 0, {
          timeoutMs: 20_000,
        });
        service = await start();
      }
      const before = loader.acknowledged();
      await until("events are acknowledged again", () => loader.acknowledged() > before, {
        timeoutMs: 30_000,
      });
      recoveryMs.push({ fault: fault.kind, ms: Math.round(performance.now() - since) });
    }
    await loader.stop();
    await until("the service is ready", async () => (await service.call("/health/ready")).status === 200, {
      timeoutMs: 30_000,
    });
    const consumerUrl = readFileSync(join(folder.path, "broker/consumer.url"), "utf8").trim();
    const verdict = await check({
      sent: loader.sent,
      consumerUrl,
      call: (path, call) => service.call(path, call),
    });
    service.kill("SIGTERM");
    await service.ended();
    return { ...verdict, recoveryMs };
  } finally {
    await loader.stop();
    service.kill("SIGKILL");
  }
};

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Whether the service has to be started again. */
const strike = async (
  fault: ScheduledFault,
  target: { service: ServiceProcess; dataDir: string },
): Promise<boolean> => {
  const { service, dataDir } = target;
  const broker = Number(readFileSync(join(dataDir, "broker/run/nats-server.pid"), "utf8"));
  switch (fault.kind) {
    case "kill_broker":
      process.kill(broker, "SIGKILL");
      return false;
    case "pause_broker":
      process.kill(broker, "SIGSTOP");
      await pause(fault.pauseMs);
      process.kill(broker, "SIGCONT");
      return false;
    case "kill_both":
      process.kill(broker, "SIGKILL");
      service.kill("SIGKILL");
      await service.ended();
      return true;
    case "kill_service":
      service.kill("SIGKILL");
      await service.ended();
      return true;
  }
};
