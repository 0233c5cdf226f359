/** Checks the log and the view against what was acknowledged, and the messages about duties against the view, with a plain NATS client and over HTTP. */
import { callUntilSeen } from "../support/call-until-seen.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";
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
  doing("reading the log");
  const log = await readLog(consumerUrl);
  doing(`reading the view of events up to ${log.last}`);
  const view = await readView(call, log.last);
  doing(`reading duties up to ${log.last}, and what was told of them`);
  const duties = await checkDuties({ consumerUrl, call, last: log.last });
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
  return { sent: sent.size, acknowledged, stored: log.records.size, duties: duties.held, violations };
};

export const readLog = async (consumerUrl: string) => {
  const records = new Map<string, { readonly sequence: number; readonly text: string }[]>();
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

/** Every row of a list, once the view has seen the log up to `last`. */
async function* rowsOf<Row>(call: TestService["call"], path: string, last: number): AsyncGenerator<Row> {
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await callUntilSeen(
      call,
      `${path}&limit=200&min_sequence=${last}${cursor && `&cursor=${cursor}`}`,
    );
    yield* page.json.data as Row[];
    cursor = page.json.next_cursor;
  }
}

export const readView = async (
  call: TestService["call"],
  last: number,
): Promise<ReadonlyMap<string, number[]>> => {
  const shown = new Map<string, number[]>();
  type EventRow = { sequence: number; event: { event_id: string } };
  for await (const { sequence, event } of rowsOf<EventRow>(call, "/v1/events?order=asc", last))
    shown.set(event.event_id, [...(shown.get(event.event_id) ?? []), sequence]);
  return shown;
};

/** Nothing that the loader sends falls due during the check: a duty opens, and is met if its review was completed. */
const checkDuties = async (options: {
  readonly consumerUrl: string;
  readonly call: TestService["call"];
  readonly last: number;
}): Promise<{ readonly held: number; readonly violations: readonly string[] }> => {
  const expected = new Set<string>();
  let held = 0;
  type DutyRow = { obligation_id: string; state: string };
  for await (const { obligation_id: id, state } of rowsOf<DutyRow>(
    options.call,
    "/v1/obligations?",
    options.last,
  )) {
    held++;
    expected.add(`${id} open`).add(`${id} ${state}`);
  }
  let told: ReadonlyMap<string, number> = new Map();
  let lastFailure = "none";
  // A projector that was killed at the very end starts again first, and a broker that restarts is away for a moment. What is missing is named below.
  await until("all is told of duties", async () => {
    told = await readTold(options.consumerUrl).catch((error: unknown) => {
      lastFailure = String(error);
      return told;
    });
    return [...expected].every((telling) => told.has(telling));
  }).catch(() => undefined);
  const untold = [...expected].filter((telling) => !told.has(telling));
  return {
    held,
    violations: [
      // First, because only some violations of a broken round are shown.
      ...(untold.length > 0
        ? [
            `${untold.length} of ${expected.size} tellings are not on the stream; the last failure: ${lastFailure}`,
          ]
        : []),
      ...untold.map((telling) => `${telling} was not told`),
      ...[...told].flatMap(([telling, times]) => [
        ...(expected.has(telling) ? [] : [`${telling} was told and is not so`]),
        ...(times > 1 ? [`${telling} was told ${times} times`] : []),
      ]),
    ],
  };
};

/** How often each message was sent. */
const readTold = async (consumerUrl: string): Promise<ReadonlyMap<string, number>> => {
  const told = new Map<string, number>();
  for await (const message of readStream(consumerUrl, "OBLIGATIONS")) {
    const { obligation_id, transition }: { obligation_id: string; transition: string } = message.json();
    const telling = `${obligation_id} ${transition}`;
    told.set(telling, (told.get(telling) ?? 0) + 1);
  }
  return told;
};
