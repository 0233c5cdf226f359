/** For the tests of a program: nothing is sent, and the captured events can be inspected. */
import type { Client } from "./client.ts";
import { type EventOptions, readEventOptions } from "./client-options.ts";
import { createRecorder, EventMaker, type Keep, makeForSend } from "./recorder.ts";
import { createReports } from "./reports.ts";
import { type Receipt, rejectedAs } from "./single-send.ts";

/** An event as it would have been sent. */
export type CapturedEvent = Readonly<Record<string, unknown>> & {
  readonly event_id: string;
  readonly timestamp: string;
  readonly event_type: string;
};

export interface TestClient<Extra extends string = never> extends Client<Extra> {
  /** In the order in which they were captured. */
  readonly events: readonly CapturedEvent[];
  /** Removes all of them. */
  clear(): void;
}

/** A client for the tests of a program: it sends nothing, and `events` holds the captured events. */
export const createTestClient = <Extra extends string = never>(
  options: EventOptions = {},
): TestClient<Extra> => {
  const maker = new EventMaker(readEventOptions(options));
  const reports = createReports(options);
  const events: CapturedEvent[] = [];
  const keep: Keep = ({ text }) => {
    events.push(JSON.parse(text));
    return undefined;
  };
  const recorder = createRecorder({ maker, reports, keep });
  const done = async () => ({ kind: "flushed" }) as const;
  return {
    events,
    clear: () => void events.splice(0),
    capture: recorder.capture,
    with: recorder.with,
    send: async (event) => {
      const made = makeForSend({ maker, reports }, event);
      if (made.kind === "dropped") return rejectedAs(made.dropped);
      keep(made);
      return { kind: "stored", receipt: receiptOf(made.eventId, events.length) };
    },
    synced: async () => ({ kind: "synced" }),
    flush: done,
    close: done,
    get stats() {
      const none = { duplicates: 0, rejected: 0, pending: { events: 0, bytes: 0 }, failure: undefined };
      return { ...none, delivered: events.length, dropped: { ...reports.drops } };
    },
  };
};

/** A receipt without a log: its hash is empty. */
const receiptOf = (eventId: string, sequence: number): Receipt => ({
  event_id: eventId,
  sequence,
  received_at: new Date().toISOString(),
  duplicate: false,
  leaf_hash: "",
});
