/** What the process is measured by itself: once for all services in it. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

/**
 * How often it is looked: a delay that is longer is surely seen. The library's 10 ms wake the process a hundred times a second,
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
  for (const name of [...HEAP_SPACES, LOOP_LAG, ...LOOP_FIGURES.map(({ name }) => name)])
    registry.removeSingleMetric(name);
  measureLoop(registry);
  made = registry;
  return registry;
};

const LOOP_LAG = "nodejs_eventloop_lag_seconds";

type LoopDelays = ReturnType<typeof monitorEventLoopDelay>;

/** As the library names and explains them. */
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
 * The library's own figures of no delay at all are `Nan`, and 292 years for the smallest one: who reads twice within LOOP_DELAY_MS is given the last ones. All of
 * it is replaced, as Bun has one histogram for all, which the library empties with its first gauge.
 */
const measureLoop = (registry: Registry): void => {
  const registers = [registry];
  const delays = monitorEventLoopDelay({ resolution: LOOP_DELAY_MS });
  delays.enable();
  const gauges = LOOP_FIGURES.map(({ name, help, of }) => {
    const gauge = new Gauge({ name, help, registers, collect });
    // Nothing, and not 0, before the first delay.
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
