/** Who calls without a key: one name per address, and its limit. */
import { isIP } from "node:net";
import { SANDBOX_REQUESTS_PER_MINUTE } from "../limits.ts";
import type { RateLimit } from "./rate-limit.ts";

export const clientLimit = (address: string): RateLimit => ({
  holder: holderOf(address),
  unit: "requests",
  quota: SANDBOX_REQUESTS_PER_MINUTE,
  windowSeconds: 60,
});

/**
 * One name per IPv4 address, and per /64 of IPv6, because a holder of one address there has them all (RFC 6177). Anything else that a
 * proxy may pass on is one shared client: a name must never contain what a client writes.
 */
export const holderOf = (address: string): string => {
  const plain = withoutPort(address.trim());
  switch (isIP(plain)) {
    case 4:
      return `ip_${plain.replaceAll(".", "_")}`;
    case 6:
      return `ip_${networkOf(plain)}`;
    default:
      return "ip_unknown";
  }
};

/** Some proxies append the port to the address, and then write IPv6 in brackets. */
const withoutPort = (address: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? address;

const MAPPED = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/;
const GROUPS = 8;

/** The first four groups. An IPv4 address mapped into IPv6 is the same client as the plain address (RFC 4291 §2.5.5.2). */
const networkOf = (address: string): string => {
  // The URL parser spells each address in one way (RFC 5952). Bun 1.4.5 refuses some with dots.
  const text = new URL(`http://[${withoutDots(address).split("%")[0]}]`).hostname.slice(1, -1);
  const mapped = MAPPED.exec(text)
    ?.slice(1)
    .map((group) => Number.parseInt(group, 16));
  if (mapped) return mapped.flatMap((group) => [group >> 8, group & 0xff]).join("_");
  const [head = [], tail = []] = text.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = new Array<string>(GROUPS - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].slice(0, 4).join("_");
};

const withoutDots = (address: string): string =>
  address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
