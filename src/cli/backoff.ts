/** Waits between tries: full jitter, so that many who failed at once do not come back at once; a time that the service names goes first. Pure. */
import { CLI_RETRY_MS_MAX, CLI_RETRY_MS_MIN } from "../limits.ts";

/** `tries`: how many have failed, from 1. `random`: from 0 to below 1. */
export const backoffMs = (tries: number, random: () => number): number =>
  random() * Math.min(CLI_RETRY_MS_MAX, CLI_RETRY_MS_MIN * 2 ** Math.min(tries, 20));

/** Milliseconds of `Retry-After`, in seconds or as a date (RFC 9110 §10.2.3); undefined where it says none. */
export const retryAfterMs = (header: string | null, now: Date): number | undefined => {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const time = Date.parse(header);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now.getTime());
};
