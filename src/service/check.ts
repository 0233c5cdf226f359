import { CLOCK_OFF_MS_MAX } from "../limits.ts";

/** One line of `prooftrail doctor`. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed" | "unchecked";
  readonly detail: string;
  /** What to do if it is not ok. */
  readonly advice?: string;
}

const checkOf =
  (state: Check["state"]) =>
  (name: string, detail: string, advice?: string): Check => ({
    name,
    state,
    detail,
    ...(advice !== undefined && { advice }),
  });

export const ok = checkOf("ok");
export const warned = checkOf("warning");
export const failed = checkOf("failed");
export const unchecked = checkOf("unchecked");

/** `offMs`: positive if the other clock is ahead of this machine's. */
export const clockCheck = (name: string, offMs: number): Check => {
  if (Math.abs(offMs) <= CLOCK_OFF_MS_MAX) return ok(name, "agrees with this machine's");
  const seconds = (Math.abs(offMs) / 1000).toFixed(1);
  return warned(
    name,
    `${seconds} s ${offMs > 0 ? "ahead of" : "behind"} this machine's`,
    "Set both by NTP: due times and retention follow the clock.",
  );
};
