/**
 * A log in an array that can be told to fail at an exact place, for orders of faults that a broker produces only by chance.
 * The runner is tested on the real broker as well.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type LogReader, LogUnavailableError, type StoredMessage } from "../../src/log/event-log.ts";

export interface ArrayLog extends LogReader {
  append(...messages: readonly StoredMessage[]): void;
  /** What happens the next time that this sequence is due, instead of delivering it. Each happens once. */
  failAt(sequence: number, fault: "unavailable" | "skipped" | "repeated"): void;
  /** The sequence at which each read began. */
  readonly starts: readonly number[];
}

const POLL_MS = 2;

export const createArrayLog = (initial: readonly StoredMessage[] = []): ArrayLog => {
  const messages = new Map(initial.map((message) => [message.sequence, message]));
  let last = initial.at(-1)?.sequence ?? 0;
  const faults = new Map<number, "unavailable" | "skipped" | "repeated">();
  const starts: number[] = [];

  async function* follow({ from, messagesMax, signal }: Parameters<LogReader["follow"]>[0]) {
    starts.push(from);
    let next = from;
    while (!signal.aborted) {
      const group: StoredMessage[] = [];
      for (; group.length < messagesMax; next++) {
        const message = messages.get(next);
        if (!message) break;
        const fault = faults.get(next);
        faults.delete(next);
        if (fault === "unavailable") {
          if (group.length > 0) yield group;
          throw new LogUnavailableError("the connection was cut");
        }
        if (fault !== "skipped") group.push(message);
        if (fault === "repeated") group.push(message);
      }
      if (group.length > 0) yield group;
      else await delay(POLL_MS);
    }
  }

  return {
    append: (...added) => {
      for (const message of added) messages.set(message.sequence, message);
      last = added.at(-1)?.sequence ?? last;
    },
    failAt: (sequence, fault) => {
      faults.set(sequence, fault);
    },
    starts,
    follow,
    read: async (wanted) => messages.get(wanted),
    lastSequence: async () => last,
  };
};
