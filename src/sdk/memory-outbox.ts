/** An outbox that ends with the process: for programs without a disk, and for what a disk does not take. */
import { RESENT_AFTER_MS } from "./limits.ts";
import { type Moment, mayBeOlderThan, thisMoment } from "./moment.ts";
import type { Appended, Outbox, Postponed, TakeLimits, Taken } from "./outbox.ts";

interface Entry {
  readonly position: number;
  readonly bytes: Uint8Array;
  firstAttempt: Moment | undefined;
  postponed: Postponed | undefined;
}

export const createMemoryOutbox = ({ bytesMax }: { readonly bytesMax: number }): Outbox => {
  /** In the order of their positions. */
  const entries = new Map<number, Entry>();
  let bytes = 0;
  let end = 0;

  const append = (entry: Uint8Array): Appended => {
    if (bytes + entry.length > bytesMax) return { kind: "full" };
    entries.set(end, {
      position: end,
      bytes: entry.slice(),
      firstAttempt: undefined,
      postponed: undefined,
    });
    end++;
    bytes += entry.length;
    return { kind: "kept" };
  };

  const take = async (limits: TakeLimits): Promise<Taken | undefined> => {
    const now = performance.now();
    const chosen: Entry[] = [];
    let size = 0;
    for (const entry of entries.values()) {
      if (entry.postponed && entry.postponed.dueMs > now) continue;
      if (chosen.length >= limits.events || (chosen.length > 0 && size + entry.bytes.length > limits.bytes))
        break;
      chosen.push(entry);
      size += entry.bytes.length;
    }
    if (chosen.length === 0) return undefined;
    const mayBeResent = chosen.some(
      ({ firstAttempt }) => firstAttempt && mayBeOlderThan(firstAttempt, RESENT_AFTER_MS),
    );
    for (const entry of chosen) entry.firstAttempt ??= thisMoment();
    return {
      entries: chosen.map((entry) => entry.bytes),
      mayBeResent,
      settle: (positions) => {
        for (const position of positions) {
          const entry = chosen[position];
          if (entry && entries.delete(entry.position)) bytes -= entry.bytes.length;
        }
      },
      postpone: (positions, until) => {
        for (const position of positions) {
          const entry = chosen[position];
          if (entry) entry.postponed = until;
        }
      },
    };
  };

  const empty = (): readonly Uint8Array[] => {
    const all = [...entries.values()].map((entry) => entry.bytes);
    entries.clear();
    bytes = 0;
    return all;
  };

  return {
    append,
    take,
    sync: async () => ({
      kind: "failed",
      reason: "The outbox is in memory: its events end with the process.",
    }),
    get pending() {
      return { events: entries.size, bytes };
    },
    mark: () => {
      const before = end;
      return () => {
        for (const position of entries.keys()) return position >= before;
        return true;
      };
    },
    get nextDueMs() {
      let next: number | undefined;
      for (const { postponed } of entries.values())
        if (postponed && postponed.dueMs < (next ?? Infinity)) next = postponed.dueMs;
      return next;
    },
    hasten: () => {
      for (const entry of entries.values()) if (!entry.postponed?.isFirm) entry.postponed = undefined;
    },
    onArrival: () => {},
    release: async () => {},
    empty,
    close: async () => empty(),
  };
};
