/** What the library measures of the process itself: once for all services in it. */
import { collectDefaultMetrics, Registry } from "prom-client";

/**
 * How often the library looks: a delay that is longer is surely seen. Its own 10 ms wake the process a hundred times a second,
 * which takes a hundredth of a core while nothing else goes on (measured).
 */
const LOOP_DELAY_MS = 100;

/**
 * Bun goes through the whole heap for them, and nothing else is done meanwhile: 20 ms in a new service, 140 with a million
 * objects (measured). What they add up to is in `nodejs_heap_size_*`.
 */
const HEAP_SPACES = ["total", "used", "available"].map((size) => `nodejs_heap_space_size_${size}_bytes`);

let made: Registry | undefined;

export const processMetrics = (): Registry => {
  if (made) return made;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_DELAY_MS });
  for (const name of HEAP_SPACES) registry.removeSingleMetric(name);
  made = registry;
  return registry;
};
