/** The system that a chaos run tests: it takes events, and faults can happen to it. */
import type { ServiceProcess } from "../support/process.ts";
import type { TestService } from "../support/service.ts";
import { within } from "../support/within.ts";
import type { ScheduledFault } from "./schedule.ts";

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
