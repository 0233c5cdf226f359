/** Checks the log and the view against what was acknowledged, and the messages about duties against the view, with a plain NATS client and over HTTP. */

import { callUntilSeen } from "../support/call-until-seen.ts";
import type { TestService } from "../support/service.ts";
import { checkDuties } from "./duties.ts";
import type { SentEvent } from "./loader.ts";
import { readStream } from "./read-stream.ts";

export interface Verdict {
  readonly sent: number;
  readonly acknowledged: number;
  readonly stored: number;
  /** The number of duties in the view whose messages were all sent exactly once. */
  readonly duties: number;
  /** Each violation is a sentence; the list is empty if every promise was kept. */
  readonly violations: readonly string[];
  /** How long each read took; for duties it includes the wait for the last message. */
  readonly readingMs: { readonly log: number; readonly view: number; readonly duties: number };
}

export const check = async (options: {
  readonly sent: ReadonlyMap<string, SentEvent>;
  /** The URL of one broker, or of several, separated by commas. */
  readonly consumerUrl: string;
  readonly call: TestService["call"];
  /** Gets each step as it begins, so that a reader can see why the check does not end. */
  readonly doing: (what: string) => void;
}): Promise<Verdict> => {
  const { sent, consumerUrl, call, doing } = options;
  let began = performance.now();
  const stage = (): number => {
    const before = began;
    began = performance.now();
    return Math.round(began - before);
  };
  doing("reading the log");
  const log = await readLog(consumerUrl);
  const logMs = stage();
  doing(`reading the view of events up to ${log.last}`);
  const view = await readView(call, log.last);
  const viewMs = stage();
  doing(`reading duties up to ${log.last}, and what was told of them`);
  const duties = await checkDuties({ consumerUrl, call, last: log.last });
  const readingMs = { log: logMs, view: viewMs, duties: stage() };
  const violations: string[] = [];
  const accuse = (text: string): void => void (violations.length < 20 && violations.push(text));
  for (const hole of log.holes) accuse(`the log has no sequence ${hole}`);
  let acknowledged = 0;
  for (const { eventId, text, sequence } of sent.values()) {
    const stored = log.records.get(eventId) ?? [];
    const shown = view.get(eventId) ?? [];
    if (stored.length > 1) accuse(`${eventId} is in the log ${stored.length} times`);
    if (shown.length !== Math.min(1, stored.length))
      accuse(`${eventId} is in the view ${shown.length} times, in the log ${stored.length}`);
    if (stored.some((record) => record.text !== text)) accuse(`${eventId} is not stored as it was sent`);
    if (sequence === undefined) continue;
    acknowledged++;
    if (stored.length === 0) accuse(`${eventId} was acknowledged and is lost`);
    if (sequence !== "not told" && stored[0]?.sequence !== sequence)
      accuse(`${eventId} was acknowledged under ${sequence}, is at ${stored[0]?.sequence}`);
  }
  for (const eventId of log.records.keys()) if (!sent.has(eventId)) accuse(`${eventId} was never sent`);
  for (const violation of duties.violations) accuse(violation);
  return {
    sent: sent.size,
    acknowledged,
    stored: log.records.size,
    duties: duties.held,
    violations,
    readingMs,
  };
};

interface LoggedRecord {
  readonly sequence: number;
  readonly text: string;
}

export const readLog = async (consumerUrl: string) => {
  const records = new Map<string, LoggedRecord[]>();
  const holes: number[] = [];
  let expected = 1;
  for await (const message of readStream(consumerUrl, "AUDIT")) {
    for (; expected < message.seq && holes.length < 20; expected++) holes.push(expected);
    expected = message.seq + 1;
    const text = message.string().split('"event":').slice(1).join('"event":').slice(0, -1);
    const { event_id }: { event_id: string } = JSON.parse(text);
    records.set(event_id, [...(records.get(event_id) ?? []), { sequence: message.seq, text }]);
  }
  return { records, holes, last: expected - 1 };
};

export const readView = async (
  call: TestService["call"],
  last: number,
): Promise<ReadonlyMap<string, number[]>> => {
  const shown = new Map<string, number[]>();
  let cursor: string | null = "";
  while (cursor !== null) {
    const path = `/v1/events?order=asc&limit=200&min_sequence=${last}${cursor && `&cursor=${cursor}`}`;
    const page = await callUntilSeen(call, path);
    for (const row of page.json.data as { sequence: number; event: { event_id: string } }[]) {
      shown.set(row.event.event_id, [...(shown.get(row.event.event_id) ?? []), row.sequence]);
    }
    cursor = page.json.next_cursor;
  }
  return shown;
};
