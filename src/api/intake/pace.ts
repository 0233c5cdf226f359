/** Lets other requests run during long work: a batch of the worst JSON takes half a second without a pause (measured). */
import { setImmediate } from "node:timers/promises";
import { INTAKE_TURN_MS_MAX } from "../../limits.ts";

export interface Pace {
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
