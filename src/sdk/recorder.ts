/** Records events: the part of a client that a program's own code calls. It never throws, never waits, and returns what became of the event. */
import { Buffer } from "node:buffer";
import { textOf } from "./error-text.ts";
import type { CaptureEvent, EventWithout, SharedMembers } from "./event.ts";
import type { EventMaker } from "./event-maker.ts";
import { joinedMembers, metadataOf } from "./json-members.ts";
import type { JsonObject } from "./json-object.ts";
import type { Converted } from "./json-reading.ts";
import { EVENT_BYTES_MAX } from "./limits.ts";
import type { DroppedEvent, DropReason, Reports } from "./reports.ts";

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

export interface EventText {
  readonly eventId: string;
  readonly text: string;
}

/** Where a finished event goes. */
export type Keep = (
  event: EventText,
) =>
  | { readonly kind: "kept"; readonly eventId: string }
  | { readonly kind: "dropped"; readonly dropped: DroppedEvent };

export interface RecorderParts {
  readonly maker: EventMaker;
  readonly keep: Keep;
  readonly reports: Pick<Reports, "dropped" | "problem">;
}

export type MadeEvent =
  | (EventText & { readonly kind: "made"; readonly converted: Converted | undefined })
  | { readonly kind: "dropped"; readonly dropped: DroppedEvent };

/** Does not throw, whatever a program passes in. */
export const makeEvent = (maker: EventMaker, event: unknown, shared: JsonObject): MadeEvent => {
  try {
    const made = maker.make(event, shared);
    if (made.kind === "invalid" && !made.isTooLarge) return drop("invalid", made.message, made);
    if (made.kind === "made") {
      if (Buffer.byteLength(made.text) <= EVENT_BYTES_MAX) return made;
    }
    const { eventId } = made;
    return drop("too_large", `An event has at most ${EVENT_BYTES_MAX} bytes as JSON.`, { eventId });
  } catch (error) {
    return drop("invalid", textOf(error), { eventId: undefined });
  }
};

const drop = (
  reason: DropReason,
  message: string,
  { eventId, path }: { readonly eventId: string | undefined; readonly path?: string },
): MadeEvent => ({
  kind: "dropped",
  dropped: { reason, message, eventId, ...(path !== undefined && { path }) },
});

/** Makes the event and hands it to `keep`. */
export const keepEvent = (
  { maker, keep, reports }: RecorderParts,
  event: unknown,
  shared: JsonObject,
): ReturnType<Keep> => {
  const made = makeEvent(maker, event, shared);
  if (made.kind === "dropped") return made;
  const kept = keep(made);
  if (kept.kind === "kept") reportConverted(reports, made);
  return kept;
};

/** An event whose metadata had values that JSON cannot represent is sent with their forms, and its program hears of it. */
export const reportConverted = (
  reports: Pick<Reports, "problem">,
  { eventId, converted }: Pick<Extract<MadeEvent, { kind: "made" }>, "eventId" | "converted">,
): void => {
  if (!converted) return;
  const { first, count } = converted;
  const more = count > 1 ? ` ${count - 1} more of its values as well.` : "";
  reports.problem(
    "converted",
    `Event ${eventId} was changed to fit JSON: ${first.path}: ${first.message}${more}`,
  );
};

/** The event types only help the programmer; any input is accepted and checked. */
export interface LooseRecorder {
  capture(event: unknown): Captured;
  with(members: JsonObject): LooseRecorder;
}

export const createRecorder = (parts: RecorderParts, shared: JsonObject = {}): LooseRecorder => ({
  capture: (event) => {
    const kept = keepEvent(parts, event, shared);
    if (kept.kind === "kept") return kept;
    const { dropped } = kept;
    parts.reports.dropped(dropped);
    return { kind: "dropped", reason: dropped.reason, message: dropped.message };
  },
  with: (members) => createRecorder(parts, joined(shared, members)),
});

const joined = (shared: JsonObject, members: JsonObject): JsonObject => {
  const both: Record<string, unknown> = { ...shared, ...members };
  for (const name of ["tags", "hash"])
    if (shared[name] && members[name]) both[name] = joinedMembers(shared[name], members[name]);
  if (shared.metadata && members.metadata)
    both.metadata = joinedMembers(metadataOf(shared.metadata).members, metadataOf(members.metadata).members);
  return both;
};
