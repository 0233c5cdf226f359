/** Metrics of the process itself, once for all services in it. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

/**
 * Sampling interval. A longer delay is always seen. The library's 10 ms wake the process a hundred times a second, which takes a hundredth
 * of a core in an idle process (measured).
 */
const LOOP_DELAY_MS = 100;

/**
 * Removed, because Bun walks the whole heap for them and blocks meanwhile: 20 ms in a new service, 140 with a million objects (measured).
 * Their sums are in `nodejs_heap_size_*`.
 */
const HEAP_SPACES = ["total", "used", "available"].map((size) => `nodejs_heap_space_size_${size}_bytes`);

let made: Registry | undefined;

export const processMetrics = (): Registry => {
  if (made) return made;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_DELAY_MS });
  for (const name of [...HEAP_SPACES, LOOP_LAG, ...LOOP_FIGURES.map(({ name }) => name)])
    registry.removeSingleMetric(name);
  measureLoop(registry);
  made = registry;
  return registry;
};

const LOOP_LAG = "nodejs_eventloop_lag_seconds";

type LoopDelays = ReturnType<typeof monitorEventLoopDelay>;

/** With the names and texts of the library. */
const LOOP_FIGURES = [
  { figure: "min", help: "The minimum recorded event loop delay.", of: ({ min }: LoopDelays) => min },
  { figure: "max", help: "The maximum recorded event loop delay.", of: ({ max }: LoopDelays) => max },
  { figure: "mean", help: "The mean of the recorded event loop delays.", of: ({ mean }: LoopDelays) => mean },
  {
    figure: "stddev",
    help: "The standard deviation of the recorded event loop delays.",
    of: ({ stddev }: LoopDelays) => stddev,
  },
  ...[50, 90, 99].map((percent) => ({
    figure: `p${percent}`,
    help: `The ${percent}th percentile of the recorded event loop delays.`,
    of: (delays: LoopDelays) => delays.percentile(percent),
  })),
].map(({ figure, ...rest }) => ({ name: `nodejs_eventloop_lag_${figure}_seconds`, ...rest }));

/**
 * Without any delay the library's figures are `Nan`, and 292 years for the smallest one; here a reader gets the last figures then. All of
 * the library's gauges are replaced, because Bun has one histogram, which the library empties with its first gauge.
 */
const measureLoop = (registry: Registry): void => {
  const registers = [registry];
  const delays = monitorEventLoopDelay({ resolution: LOOP_DELAY_MS });
  delays.enable();
  const gauges = LOOP_FIGURES.map(({ name, help, of }) => {
    const gauge = new Gauge({ name, help, registers, collect });
    // No value, and not 0, before the first delay.
    gauge.remove();
    return { gauge, of };
  });
  function collect(): void {
    if (delays.count === 0) return;
    for (const { gauge, of } of gauges) gauge.set(of(delays) / 1e9);
    delays.reset();
  }
  new Gauge({
    name: LOOP_LAG,
    help: "Lag of event loop in seconds.",
    registers,
    async collect() {
      const startMs = performance.now();
      await setImmediate();
      this.set((performance.now() - startMs) / 1000);
    },
  });
};
