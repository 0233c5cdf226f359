/**
 * The limit for clients without a key: a number of requests per address in any 60 seconds. The times of the requests that passed are stored
 * where all front ends see them. A request is written there before it passes, on condition that nobody else wrote meanwhile. So the limit
 * is exact over all front ends, as far as their clocks agree. Refused requests leave no trace.
 */
import { isIP } from "node:net";

type ClientDecision =
  | { readonly kind: "allowed" }
  | { readonly kind: "limited"; readonly perMinute: number; readonly retryAfterSeconds: number }
  /** The stored times could not be read or written. */
  | { readonly kind: "unknown" };

export interface ClientRateLimiter {
  take(address: string): Promise<ClientDecision>;
}

/** When a client's requests passed, in milliseconds since 1970. Not more entries than requests may pass in one window. */
export interface KeptTimes {
  readonly times: readonly number[];
  /** 0 if nothing is stored. */
  readonly revision: number;
}

type TimesWrite =
  | { readonly kind: "written"; readonly revision: number }
  /** Somebody wrote since that revision. */
  | { readonly kind: "conflict" }
  /** It may or may not have been written. */
  | { readonly kind: "unavailable" };

export interface ClientTimes {
  /** Undefined if no answer came. */
  read(holder: string): Promise<KeptTimes | undefined>;
  /** Replaces what was stored, if it still has the revision in `kept`. */
  write(holder: string, kept: KeptTimes): Promise<TimesWrite>;
}

/** The limit holds for any minute (SPEC 8). */
const WINDOW_MS = 60_000;

/** Clients whose times this front end remembers, 800 bytes each: 8 MB. The times of others are read again. */
const CLIENTS_REMEMBERED_MAX = 10_000;

/** A try fails when another front end lets a request of the same client pass; more tries are needed only with that many front ends. */
const TRIES_MAX = 100;

interface Client {
  readonly holder: string;
  /** The last known state. Others only add to it, so a client that is at the limit by this is at the limit. */
  kept: KeptTimes | undefined;
  readonly waiting: ((decision: ClientDecision) => void)[];
  isServing: boolean;
}

export const createClientRateLimiter = (dependencies: {
  readonly store: ClientTimes;
  readonly nowMs: () => number;
  readonly perMinute: number;
}): ClientRateLimiter => {
  const { store, nowMs, perMinute } = dependencies;
  const clients = new Map<string, Client>();

  /** Admits or refuses all waiting requests together, with one write, until none waits. */
  const serve = async (client: Client): Promise<void> => {
    let tries = 0;
    while (client.waiting.length > 0) {
      client.kept ??= await store.read(client.holder);
      if (!client.kept || tries++ >= TRIES_MAX) return answer(client, client.waiting.length, UNKNOWN);
      const now = nowMs();
      const { revision } = client.kept;
      const times = timesWithin(client.kept.times, now);
      const admitted = Math.min(perMinute - times.length, client.waiting.length);
      if (admitted <= 0) return answer(client, client.waiting.length, limited(times, now, perMinute));
      const next = [...times, ...new Array<number>(admitted).fill(now)];
      const write = await store.write(client.holder, { times: next, revision });
      client.kept = write.kind === "written" ? { times: next, revision: write.revision } : undefined;
      if (write.kind === "conflict") continue;
      answer(client, admitted, write.kind === "written" ? ALLOWED : UNKNOWN);
      tries = 0;
    }
  };

  const serveAll = async (client: Client): Promise<void> => {
    client.isServing = true;
    try {
      await serve(client);
    } finally {
      client.isServing = false;
      answer(client, client.waiting.length, UNKNOWN);
    }
  };

  return {
    take: (address) => {
      const client = clientOf(clients, holderOf(address));
      const { promise, resolve } = Promise.withResolvers<ClientDecision>();
      client.waiting.push(resolve);
      if (client.isServing) return promise;
      // The first request is answered when its own decision is known, and not after all that came later.
      return Promise.race([promise, serveAll(client).then(() => promise)]);
    },
  };
};

const ALLOWED: ClientDecision = { kind: "allowed" };
const UNKNOWN: ClientDecision = { kind: "unknown" };

const answer = ({ waiting }: Client, count: number, decision: ClientDecision): void => {
  for (const resolve of waiting.splice(0, count)) resolve(decision);
};

/** Forgets the client that has been idle longest. */
const clientOf = (clients: Map<string, Client>, holder: string): Client => {
  const client = clients.get(holder) ?? { holder, kept: undefined, waiting: [], isServing: false };
  clients.delete(holder);
  clients.set(holder, client);
  const [oldest] = clients.keys();
  if (clients.size > CLIENTS_REMEMBERED_MAX && oldest !== undefined) clients.delete(oldest);
  return client;
};

/**
 * Sorted, because the clocks of several front ends wrote them. A time further ahead than a window was written before a clock was set back.
 */
const timesWithin = (times: readonly number[], now: number): readonly number[] =>
  times.filter((time) => Math.abs(time - now) < WINDOW_MS).sort((left, right) => left - right);

/** One more request is allowed as soon as enough times have left the window. */
const limited = (times: readonly number[], now: number, perMinute: number): ClientDecision => {
  const leaves = (times[times.length - perMinute] ?? now) + WINDOW_MS;
  return { kind: "limited", perMinute, retryAfterSeconds: Math.max(1, Math.ceil((leaves - now) / 1000)) };
};

/**
 * One name per IPv4 address, and per /64 of IPv6, because a holder of one address there has them all (RFC 6177). Anything else, which a
 * proxy may pass on, is one client together: a name must never contain what a client writes.
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

/**
 * The first four groups, in one spelling (RFC 5952 §4.1, §4.3). An IPv4 address mapped into IPv6 gives its four bytes, like the plain
 * address (RFC 4291 §2.5.5.2).
 */
const networkOf = (address: string): string => {
  const [head = "", tail = ""] = (address.toLowerCase().split("%")[0] ?? "").split("::");
  const [left, right] = [groupsOf(head), groupsOf(tail)];
  const zeros = new Array<number>(Math.max(0, GROUPS - left.length - right.length)).fill(0);
  const groups = [...left, ...zeros, ...right];
  if (MAPPED.every((group, index) => groups[index] === group))
    return groups
      .slice(MAPPED.length)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join("_");
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join("_");
};

const GROUPS = 8;
/** The groups before the two that are a mapped IPv4 address. */
const MAPPED = [0, 0, 0, 0, 0, 0xffff];

/** The last two groups may be written as an IPv4 address. */
const groupsOf = (part: string): readonly number[] =>
  part === ""
    ? []
    : part.split(":").flatMap((text) => {
        if (!text.includes(".")) return [Number.parseInt(text, 16)];
        const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number);
        return [a * 256 + b, c * 256 + d];
      });
