/** One round: a scene under load, faults drawn from a seed, then log and view held against every acknowledgement. */
import { until } from "../support/until.ts";
import { check, type Verdict } from "./checker.ts";
import { startLoader } from "./loader.ts";
import { pause, type Scenario } from "./scene.ts";
import { type ScheduleOptions, schedule } from "./schedule.ts";

export interface ChaosReport extends Verdict {
  /** From the end of each fault until a request is acknowledged that began after it. */
  readonly recoveryMs: readonly { readonly fault: string; readonly ms: number }[];
}

const RECOVERY_MS_MAX = 60_000;

export const runChaos = async <Kind extends string>(
  scenario: Scenario<Kind>,
  options: ScheduleOptions & { readonly say: (text: string) => void },
): Promise<ChaosReport> => {
  const { seed, say } = options;
  await using scene = await scenario.open();
  const loader = startLoader({ seed, call: scene.call, ...scenario.load });
  const recoveryMs: { fault: string; ms: number }[] = [];
  try {
    for (const fault of schedule(scenario.faults, options)) {
      await pause(fault.afterMs);
      say(`${fault.kind} (${fault.lastsMs} ms where it lasts) at ${loader.acknowledged()} acknowledged`);
      await scene.strike(fault);
      const since = performance.now();
      await until(`events are acknowledged after ${fault.kind}`, () => loader.lastBegunMs() > since, {
        timeoutMs: RECOVERY_MS_MAX,
      });
      recoveryMs.push({ fault: fault.kind, ms: Math.round(performance.now() - since) });
    }
    await loader.stop();
    const isReady = async () => (await scene.call("/health/ready").catch(() => undefined))?.status === 200;
    await until("the service is ready", isReady, { timeoutMs: RECOVERY_MS_MAX });
    const verdict = await check({
      sent: loader.sent,
      consumerUrl: scene.consumerUrl(),
      call: scene.call,
    });
    return { ...verdict, violations: [...loader.wrongAnswers, ...verdict.violations], recoveryMs };
  } catch (error) {
    throw new Error(`${String(error)}\n${scene.warnings()}`);
  } finally {
    await loader.stop();
  }
};
