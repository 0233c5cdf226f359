/**
 * The limit of clients without a key: so many requests in any 60 seconds per address, exact over all front ends, because each request is counted
 * by one shared counter. A sliding window of two minutes: of the last minute's requests as large a part counts as still lies within 60 seconds
 * when they came evenly.
 */
import { isIP } from "node:net";
import type { RateCounter } from "./shared-rate-limit.ts";

export type ClientDecision =
  | { readonly kind: "allowed" }
  | { readonly kind: "limited"; readonly perMinute: number; readonly retryAfterSeconds: number }
  /** The counter did not answer: nobody knows. */
  | { readonly kind: "unknown" };

export interface ClientRateLimiter {
  take(address: string): Promise<ClientDecision>;
}

const WINDOW_MS = 60_000;

export const createClientRateLimiter = (dependencies: {
  readonly counter: RateCounter;
  readonly nowMs: () => number;
  readonly perMinute: number;
}): ClientRateLimiter => {
  const { counter, nowMs, perMinute } = dependencies;
  return {
    take: async (address) => {
      const now = nowMs();
      const window = Math.floor(now / WINDOW_MS);
      const holder = holderOf(address);
      const [before, counted] = await Promise.all([
        counter.add({ holder, unit: "sandbox", window: window - 1 }, 0),
        counter.add({ holder, unit: "sandbox", window }, 1),
      ]);
      if (before === undefined || counted === undefined) return { kind: "unknown" };
      const elapsed = (now - window * WINDOW_MS) / WINDOW_MS;
      if (before * (1 - elapsed) + counted <= perMinute) return { kind: "allowed" };
      // What was refused does not count, so that who asks too often is served again as soon as anybody.
      await counter.add({ holder, unit: "sandbox", window }, -1);
      const wait = waitFor({ before, counted: counted - 1, elapsed, perMinute });
      return { kind: "limited", perMinute, retryAfterSeconds: Math.max(1, Math.ceil(wait * 60)) };
    },
  };
};

/** Parts of a window until one more is allowed, as far as is known now. */
const waitFor = (state: { before: number; counted: number; elapsed: number; perMinute: number }): number => {
  const { before, counted, elapsed, perMinute } = state;
  const left = perMinute - counted - 1;
  if (left >= 0 && before > 0) return Math.max(0, 1 - left / before - elapsed);
  // This minute is used up: its requests count on in the next one, less and less.
  return 1 - elapsed + Math.max(0, 1 - (perMinute - 1) / Math.max(1, counted));
};

/**
 * One name per IPv4 address, and per /64 of IPv6: whoever has an address there has them all (RFC 6177). What is no address, which a proxy may pass on,
 * is one client together: a name must never be what a client writes.
 */
export const holderOf = (address: string): string => {
  const plain = withoutPort(address.trim());
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1] ?? plain;
  switch (isIP(mapped)) {
    case 4:
      return `ip_${mapped.replaceAll(".", "_")}`;
    case 6:
      return `ip_${networkOf(mapped)}`;
    default:
      return "ip_unknown";
  }
};

/** Some proxies write the port behind the address, and IPv6 in brackets then. */
const withoutPort = (address: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? address;

/** The first four groups, in one spelling (RFC 5952 §4.1, §4.3). */
const networkOf = (address: string): string => {
  const [head = "", tail] = (address.toLowerCase().split("%")[0] ?? "").split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...new Array<string>(zeros).fill("0"), ...right];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join("_");
};
