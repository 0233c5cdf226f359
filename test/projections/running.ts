/** A runner over an array of records, and functions that wait for the views it moves. */
import type { Projection } from "../../src/views/kit/projection.ts";
import { createRunner } from "../../src/views/kit/runner.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { silentLogger } from "../support/broker.ts";
import { until } from "../support/until.ts";
import type { ArrayLog } from "./array-log.ts";

export type Projections = typeof PROJECTIONS;

export const now = (): Date => new Date("2026-11-20T12:00:00Z");

/** Runs until it is ended or disposed. */
export const run = (log: ArrayLog, views: ViewStore, projections: Projections = PROJECTIONS) => {
  const stop = new AbortController();
  const metrics = { progressed: () => {}, alarmed: () => {} };
  const runner = createRunner({ projections, log, views, logger: silentLogger, metrics, clock: now });
  const running = runner.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { end, [Symbol.asyncDispose]: end };
};

export const allStandAt = (views: ViewStore, sequence: number, projections: Projections = PROJECTIONS) =>
  until("all views stand at the end", async () => {
    const positions = await Promise.all(projections.map(({ name }) => views.position(name)));
    return positions.every((position) => position === sequence);
  });

export const named = (name: string): Projection => {
  const found = PROJECTIONS.find((projection) => projection.name === name);
  if (!found) throw new Error(name);
  return found;
};
