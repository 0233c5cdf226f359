/** Records events: the part of a client that a program's own code calls. It never throws, never waits, and returns what became of the event. */
import type { CaptureEvent, EventWithout, SharedMembers } from "./event.ts";
import type { EventMaker, MadeEvent } from "./event-maker.ts";
import { joinedMembers, metadataOf } from "./json.ts";
import type { DroppedEvent, DropReason, Reports } from "./reports.ts";
import type { JsonObject } from "./values.ts";

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
