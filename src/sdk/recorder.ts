/** Records events: the part of a client that a program's own code calls. It never throws, never waits, and returns what became of the event. */
import { Buffer } from "node:buffer";
import type { CaptureEvent, EventWithout, SharedMembers } from "./event.ts";
import type { Hash } from "./hash.ts";
import { type Converted, Fault, formOf, joinedMembers, membersOf, metadataOf, writeJson } from "./json.ts";
import { EVENT_BYTES_MAX } from "./limits.ts";
import type { DroppedEvent, DropReason, Reports } from "./reports.ts";
import { activeSpan } from "./trace-context.ts";
import { uuid7 } from "./uuid.ts";
import { isBytes, isJsonObject, type JsonObject, textOf } from "./values.ts";

export type Captured =
  /** It is in the outbox. */
  | { readonly kind: "kept"; readonly eventId: string }
  /** It will not be sent; it was also counted and reported. */
  | { readonly kind: "dropped"; readonly reason: DropReason; readonly message: string };

/** `Given` are the members that `with()` has already set. */
export interface Recorder<Extra extends string = never, Given extends PropertyKey = never> {
  /**
   * Writes the event to the outbox, from which it is sent. Does not throw, does not wait and does not use the network. An event without `event_id`
   * gets a UUIDv7, one without `timestamp` the time of the call.
   */
  capture(event: EventWithout<CaptureEvent<Extra>, Given>): Captured;
  /** A recorder whose events have these members, unless they set their own. `tags`, `metadata` and `hash` are merged key by key. */
  with<Members extends SharedMembers>(members: Members): Recorder<Extra, Given | keyof Members>;
}

/** Where a finished event goes. Returns why it is not kept; undefined if it is. */
export type Keep = (event: MadeEvent) => Pick<DroppedEvent, "reason" | "message"> | undefined;

export interface RecorderParts {
  readonly maker: EventMaker;
  readonly keep: Keep;
  readonly reports: Pick<Reports, "dropped" | "problem">;
}

/** Makes an event for `send()`: without a source number, so that the same event has the same content however often it is made. */
export const makeForSend = ({ maker, reports }: Pick<RecorderParts, "maker" | "reports">, event: unknown) => {
  const made = maker.make(event, {}, false);
  if (made.kind === "made") reportConverted(reports, made);
  else reports.dropped([made.dropped]);
  return made;
};

/** An event whose metadata had values that JSON cannot represent is sent with their forms, and its program hears of it. */
const reportConverted = (reports: Pick<Reports, "problem">, { eventId, converted }: MadeEvent): void => {
  if (!converted) return;
  const { first, count } = converted;
  const more = count > 1 ? ` ${count - 1} more of its values as well.` : "";
  const text = `Event ${eventId} was changed to fit JSON: ${first.path}: ${first.message}${more}`;
  reports.problem("converted", text);
};

/** The event types only help the programmer; any input is accepted and checked. */
export interface LooseRecorder {
  capture(event: unknown): Captured;
  with(members: JsonObject): LooseRecorder;
}

export const createRecorder = (parts: RecorderParts, shared: JsonObject = {}): LooseRecorder => ({
  capture: (event) => {
    const { maker, keep, reports } = parts;
    const made = maker.make(event, shared);
    if (made.kind === "dropped") return drop(reports, made.dropped);
    const refused = keep(made);
    if (refused) return drop(reports, { ...refused, eventId: made.eventId });
    reportConverted(reports, made);
    return { kind: "kept", eventId: made.eventId };
  },
  with: (members) => createRecorder(parts, joined(shared, members)),
});

const drop = (reports: Pick<Reports, "dropped">, dropped: DroppedEvent): Captured => {
  reports.dropped([dropped]);
  return { kind: "dropped", reason: dropped.reason, message: dropped.message };
};

const joined = (shared: JsonObject, members: JsonObject): JsonObject => {
  const both: Record<string, unknown> = { ...shared, ...members };
  for (const name of ["tags", "hash"])
    if (shared[name] && members[name]) both[name] = joinedMembers(shared[name], members[name]);
  if (shared.metadata && members.metadata)
    both.metadata = joinedMembers(metadataOf(shared.metadata).members, metadataOf(members.metadata).members);
  return both;
};

export interface MadeEvent {
  readonly kind: "made";
  readonly eventId: string;
  readonly text: string;
  /** What JSON cannot represent and was changed. */
  readonly converted: Converted | undefined;
}

export type Made = MadeEvent | { readonly kind: "dropped"; readonly dropped: DroppedEvent };

/** Turns what a program passes in into the text of an event: identity, time, trace, hashes, source number, then JSON. */
export class EventMaker {
  readonly #sourceId: string | undefined;
  readonly #hash: Hash;
  #last = 0;

  /** Each client of each run of a program is a source of its own, because its numbers begin at 1. Without `source` events are not numbered. */
  constructor({ source, hashKey }: { readonly source: string | undefined; readonly hashKey: Hash }) {
    this.#sourceId = source === undefined ? undefined : `${source}/${uuid7(Date.now())}`;
    this.#hash = hashKey;
  }

  /** The source and the highest number it has given out. */
  get source(): { readonly id: string; readonly last: number } | undefined {
    return this.#sourceId === undefined ? undefined : { id: this.#sourceId, last: this.#last };
  }

  /** `handed` is whatever a program passes in. Does not throw. */
  make(handed: unknown, shared: JsonObject = {}, isNumbered = true): Made {
    let eventId: string | undefined;
    try {
      const members = membersOf(handed);
      if (!members) throw notAnEvent(handed);
      // Each member is read once, because a getter may return another value the second time.
      const event = { ...members };
      const nowMs = Date.now();
      const { event_id = uuid7(nowMs), timestamp = new Date(nowMs).toISOString() } = event;
      if (typeof event_id !== "string") throw new Fault("/event_id", "Not a string.");
      eventId = event_id;
      // All members are spread and then overwritten: leaving some out of the copy costs more than everything else.
      const whole: Record<string, unknown> = { event_id, timestamp, ...shared, ...event };
      for (const name in shared) if (whole[name] === undefined) whole[name] = shared[name];
      whole.event_id = event_id;
      whole.timestamp = timestamp;
      this.#placeHashes(whole, shared, event);
      if (shared.tags && event.tags !== undefined) whole.tags = joinedMembers(shared.tags, event.tags);
      const isConverted = this.#placeMetadata(whole, isNumbered, shared.metadata, event.metadata);
      addSpan(whole);
      const { text, converted } = writeJson(whole, isConverted ? NO_METADATA : undefined);
      if (Buffer.byteLength(text) > EVENT_BYTES_MAX) throw new Fault(undefined, "");
      return { kind: "made", eventId, text, converted };
    } catch (error) {
      const { path } = error instanceof Fault ? error : {};
      if (error instanceof Fault && path === undefined) {
        const message = `An event has at most ${EVENT_BYTES_MAX} bytes as JSON.`;
        return { kind: "dropped", dropped: { reason: "too_large", message, eventId } };
      }
      const dropped = { reason: "invalid", message: textOf(error), eventId } as const;
      return { kind: "dropped", dropped: path === undefined ? dropped : { ...dropped, path } };
    }
  }

  #placeHashes(whole: Record<string, unknown>, shared: JsonObject, event: JsonObject): void {
    const given = identifiersOf(event, shared);
    if (given === undefined) return;
    const identifiers = membersOf(given);
    if (!identifiers) throw new Fault("/hash", "Not an object.");
    whole.hash = undefined;
    for (const name in identifiers) {
      const identifier = identifiers[name];
      const path = `/hash/${name}`;
      if (identifier === undefined) continue;
      if (!HASHED.has(name)) throw new Fault(path, `Only ${[...HASHED].join(", ")} can be hashed.`);
      if (event[`${name}_hash`] !== undefined)
        throw new Fault(path, `The event has a ${name}_hash as well: give one of the two.`);
      if (typeof identifier !== "string" && !isBytes(identifier))
        throw new Fault(path, "Only a string or bytes can be hashed.");
      whole[`${name}_hash`] = this.#hash(identifier);
    }
  }

  /** Returns whether what was passed as metadata is no object in JSON. */
  #placeMetadata(
    whole: Record<string, unknown>,
    isNumbered: boolean,
    shared: unknown,
    own: unknown,
  ): boolean {
    const [under, over] = [shared, own].map((value) => (value ? metadataOf(value) : undefined));
    const members = under && over ? joinedMembers(under.members, over.members) : (over ?? under)?.members;
    // What means false, such as null, stays as it is; the service says what is wrong.
    const given = members ?? own ?? shared;
    const metadata = isNumbered ? this.#withNumber(given) : given;
    if (metadata !== undefined) whole.metadata = metadata;
    return under?.isConverted === true || over?.isConverted === true;
  }

  /** A number is used up even if the event is dropped afterwards: its number is then missing in the log, where everybody can see the gap. */
  #withNumber(metadata: unknown): unknown {
    const members = membersOf(metadata);
    const hasOwn = members?.source_id !== undefined || members?.source_sequence !== undefined;
    if (this.#sourceId === undefined || hasOwn) return members ?? metadata;
    this.#last++;
    if (metadata !== undefined && !members) return metadata;
    // One copy, with its own members named first: more of them cost memory and time in each capture (measured).
    const numbered: Record<string, unknown> = {
      source_id: this.#sourceId,
      source_sequence: this.#last,
      ...members,
    };
    numbered.source_id = this.#sourceId;
    numbered.source_sequence = this.#last;
    return numbered;
  }
}

const NO_METADATA: Converted = {
  first: { path: "/metadata", message: "Metadata must be an object." },
  count: 1,
};

const notAnEvent = (handed: unknown): Fault =>
  new Fault("", isJsonObject(handed) ? formOf(handed).message : "Not an event: pass an object.");

const HASHED: ReadonlySet<string> = new Set(["subject", "context", "outcome"]);

/** Members given once apply if the event has no value of its own. */
const identifiersOf = (event: JsonObject, shared: JsonObject): unknown => {
  const given = membersOf(shared.hash);
  const own = membersOf(event.hash);
  if (!given || (event.hash !== undefined && !own)) return event.hash ?? shared.hash;
  const both: Record<string, unknown> = { ...own };
  for (const name in given) if (event[`${name}_hash`] === undefined) both[name] ??= given[name];
  return both;
};

const addSpan = (whole: Record<string, unknown>): void => {
  if (whole.trace_id !== undefined) return;
  const span = activeSpan();
  if (!span) return;
  whole.trace_id = span.traceId;
  whole.span_id ??= span.spanId;
};
