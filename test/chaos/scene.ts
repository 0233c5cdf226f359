/** The system that a chaos run tests: it takes events, and faults can happen to it. */
import { createChance } from "../support/histories/chance.ts";
import type { ServiceProcess } from "../support/process.ts";
import type { TestService } from "../support/service.ts";
import { within } from "../support/within.ts";

export interface Scene<Kind extends string = string> extends AsyncDisposable {
  /** Sends a request to a front end that should be there. */
  readonly call: TestService["call"];
  /** The URL for a plain NATS client that reads the log. */
  consumerUrl(): string;
  /** The complaints of its parts, for a person who investigates a broken promise. */
  warnings(): string;
  /** Reports of a part that the log, the tree and the signatures do not agree. No fault may cause one. */
  alarms(): readonly string[];
  /** Makes the fault happen, and repairs what an operator or a supervisor would: restarts what was killed, frees what was filled. */
  strike(fault: ScheduledFault<Kind>): Promise<void>;
}

export interface Scenario<Kind extends string = string> {
  readonly name: string;
  readonly faults: readonly [Kind, ...Kind[]];
  /** How much load it gets meanwhile. */
  readonly load: { readonly senders: number; readonly restMs: number; readonly batchEventsMax: number };
  open(): Promise<Scene<Kind>>;
}

export const alarmsIn = (services: readonly ServiceProcess[]): readonly string[] =>
  services.flatMap(({ output }) => output.split("\n").filter((line) => line.includes("do not agree")));

export const end = async (service: ServiceProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
  service.kill(signal);
  await within(`a process has ended after ${signal}`, service.ended());
};

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

export interface ScheduledFault<Kind extends string = string> {
  readonly kind: Kind;
  /** The time of undisturbed load before the fault. */
  readonly afterMs: number;
  /** How long the fault lasts, if it is one with a duration. */
  readonly lastsMs: number;
}

export interface ScheduleOptions {
  readonly seed: number;
  readonly faults: number;
  readonly calmMsMax: number;
  readonly lastsMsMax: number;
}

/** Which fault comes when: a seed repeats it. */
export const schedule = <Kind extends string>(
  kinds: readonly [Kind, ...Kind[]],
  { seed, faults, calmMsMax, lastsMsMax }: ScheduleOptions,
): readonly ScheduledFault<Kind>[] => {
  const { next } = createChance(seed);
  return Array.from({ length: faults }, (_, index) => ({
    // Every kind is drawn once before any is drawn again.
    kind: kinds[index < kinds.length ? index : Math.floor(next() * kinds.length)] ?? kinds[0],
    afterMs: Math.round((0.2 + 0.8 * next()) * calmMsMax),
    lastsMs: Math.round((0.2 + 0.8 * next()) * lastsMsMax),
  }));
};
