/** One round: runs a scene under load with faults drawn from a seed, then checks the log and the view against every acknowledgement. */
import { until } from "../support/until.ts";
import { within } from "../support/within.ts";
import { check, type Verdict } from "./checker.ts";
import { type Loader, startLoader } from "./loader.ts";
import { pause, type Scenario, type Scene, type ScheduleOptions, schedule } from "./scene.ts";

export interface ChaosReport extends Verdict {
  /** The time from the end of each fault until a request that began after it is acknowledged. */
  readonly recoveryMs: readonly { readonly fault: string; readonly ms: number }[];
}

/** How long to wait for requests to end after something broke: a client that hangs must not hide the cause. */
const LOADER_END_MS_MAX = 5_000;

export interface ChaosOptions extends ScheduleOptions {
  readonly say: (text: string) => void;
  /** The minimum of acknowledged events. Faults in quick succession leave little time between them, so the load continues until it is reached. */
  readonly acknowledgedMin: number;
  /** A round that takes longer is broken, and reports which step it is at. */
  readonly msMax: number;
}

export const runChaos = async <Kind extends string>(
  scenario: Scenario<Kind>,
  options: ChaosOptions,
): Promise<ChaosReport> => {
  const { seed, msMax } = options;
  await using scene = await scenario.open();
  const loader = startLoader({ seed, call: scene.call, ...scenario.load });
  const round = { doing: "beginning" };
  try {
    return await within("the round is over", playRound({ scenario, scene, loader, options, round }), msMax);
  } catch (error) {
    const broken = new Error(`seed ${seed}: ${String(error)}; it was ${round.doing}\n${scene.warnings()}`);
    await Promise.race([loader.stop(), pause(LOADER_END_MS_MAX)]);
    throw broken;
  }
};

const playRound = async <Kind extends string>(parts: {
  scenario: Scenario<Kind>;
  scene: Scene<Kind>;
  loader: Loader;
  options: ChaosOptions;
  /** Gets each step, so that a reader can see why the round does not end. */
  round: { doing: string };
}): Promise<ChaosReport> => {
  const { scenario, scene, loader, options, round } = parts;
  const recoveryMs: { fault: string; ms: number }[] = [];
  for (const fault of schedule(scenario.faults, options)) {
    await pause(fault.afterMs);
    options.say(
      `${fault.kind} (${fault.lastsMs} ms where it lasts) at ${loader.acknowledged()} acknowledged`,
    );
    round.doing = `striking with ${fault.kind}`;
    await scene.strike(fault);
    round.doing = `coming back after ${fault.kind}`;
    const since = performance.now();
    await until(`events are acknowledged after ${fault.kind}`, () => loader.lastBegunMs() > since);
    recoveryMs.push({ fault: fault.kind, ms: Math.round(performance.now() - since) });
  }
  round.doing = "sending until enough was tried";
  await until("enough is acknowledged", () => loader.acknowledged() >= options.acknowledgedMin);
  round.doing = "waiting for the last answers";
  await loader.stop();
  const isReady = async (): Promise<boolean> => {
    const answer = await scene.call("/health/ready").catch(() => undefined);
    round.doing = `waiting for the service to be ready, which says ${answer?.text ?? "nothing"}`;
    return answer?.status === 200;
  };
  await until("the service is ready", isReady);
  const verdict = await check({
    sent: loader.sent,
    consumerUrl: scene.consumerUrl(),
    call: scene.call,
    doing: (what) => {
      round.doing = what;
    },
  });
  const violations = [...loader.wrongAnswers, ...scene.alarms(), ...verdict.violations];
  const beside = violations.length > 0 ? [scene.warnings()] : [];
  return { ...verdict, violations: [...violations, ...beside], recoveryMs };
};
