/** What a chaos run plays on: something that takes events, and faults that can befall it. */
import type { ServiceProcess } from "../support/process.ts";
import type { TestService } from "../support/service.ts";
import { within } from "../support/within.ts";
import type { ScheduledFault } from "./schedule.ts";

export interface Scene<Kind extends string = string> extends AsyncDisposable {
  /** Asks a front end that should be there. */
  readonly call: TestService["call"];
  /** For a plain NATS client that reads the log. */
  consumerUrl(): string;
  /** What its parts complain of, for a person who looks at a broken promise. */
  warnings(): string;
  /** Where a part found that log, tree and what was signed do not agree. No fault may bring that about. */
  alarms(): readonly string[];
  /** Lets it happen, and puts right what an operator or his supervisor would: starts again what was killed, frees what was filled. */
  strike(fault: ScheduledFault<Kind>): Promise<void>;
}

export interface Scenario<Kind extends string = string> {
  readonly name: string;
  readonly faults: readonly [Kind, ...Kind[]];
  /** How hard it is pressed meanwhile. */
  readonly load: { readonly senders: number; readonly restMs: number; readonly batchEventsMax: number };
  open(): Promise<Scene<Kind>>;
}

export const alarmsIn = (services: readonly ServiceProcess[]): readonly string[] =>
  services.flatMap(({ output }) => output.split("\n").filter((line) => line.includes("do not agree")));

/** A stop in order is over after some ten seconds at the latest. */
const END_MS_MAX = 30_000;

export const end = async (service: ServiceProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
  service.kill(signal);
  await within(END_MS_MAX, `a process has ended after ${signal}`, service.ended());
};

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
