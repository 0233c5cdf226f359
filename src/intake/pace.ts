/** Lets other requests have their turn during long work: a batch of the worst JSON takes half a second in one go (bench/worst-json.ts). */
import { setImmediate } from "node:timers/promises";
import { INTAKE_TURN_MS_MAX } from "../limits.ts";

export interface Pace {
  /** Whether this piece of work has had the process for long enough. */
  isDue(): boolean;
  rest(): Promise<void>;
}

export const createPace = (): Pace => {
  let since = performance.now();
  return {
    isDue: () => performance.now() - since > INTAKE_TURN_MS_MAX,
    rest: async () => {
      await setImmediate();
      since = performance.now();
    },
  };
};
