import { CLOCK_OFF_MS_MAX } from "../limits.ts";
import type { Check } from "./check.ts";

/** `offMs`: positive if the other clock is ahead of this machine's. */
export const clockCheck = (name: string, offMs: number): Check => {
  const seconds = (Math.abs(offMs) / 1000).toFixed(1);
  if (Math.abs(offMs) <= CLOCK_OFF_MS_MAX) return { name, state: "ok", detail: "agrees with this machine's" };
  return {
    name,
    state: "warning",
    detail: `${seconds} s ${offMs > 0 ? "ahead of" : "behind"} this machine's`,
    advice: "Set both by NTP: due times and retention follow the clock.",
  };
};
