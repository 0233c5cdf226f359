/** What a program passes to `capture()`. Each event type knows the keys of `metadata` that Prooftrail's views understand. */
import type { AuditEvent } from "../event/audit-event.ts";
import type { EVENT_TYPES_BY_GROUP } from "../event/event-types.ts";

type Groups = typeof EVENT_TYPES_BY_GROUP;
export type EventType = { [Group in keyof Groups]: keyof Groups[Group] }[keyof Groups];

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | Date
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue | undefined };

/** Any other key may be sent beside these. */
interface AnyMetadata {
  readonly [name: string]: JsonValue | undefined;
}

interface AboutDecision extends AnyMetadata {
  /** The decision that the event is about. A decision without one is identified by its `event_id`. */
  readonly decision_id?: string;
  readonly reason?: string;
}

interface OfModel extends AnyMetadata {
  readonly model?: string;
  readonly duration_ms?: number;
  readonly tokens_in?: number;
  readonly tokens_out?: number;
}

interface AboutObjection extends AboutDecision {
  readonly objection_id?: string;
  readonly objection_type?: "explanation_request" | "automated_decision_refusal" | "appeal";
  /** The result, such as of a review or an objection. */
  readonly resolution?: string;
  /** A deadline was extended, with `reason`, and the person was informed. */
  readonly extension_days?: number;
}

interface AboutIncident extends AnyMetadata {
  readonly incident_id?: string;
  readonly incident_class?: string;
  /** When the operator became aware of it (RFC 3339). */
  readonly aware_at?: string;
  readonly report_type?: string;
}

interface AboutAssessment extends AnyMetadata {
  readonly assessment_id?: string;
}

type MetadataOfGroup<Type extends EventType> = Type extends `objection.${string}` | "objection"
  ? AboutObjection
  : Type extends `incident.${string}`
    ? AboutIncident
    : Type extends `assessment.${string}`
      ? AboutAssessment
      : Type extends `decision.${string}` | `transparency.${string}` | "human_review" | "ai_inference"
        ? AboutDecision &
            OfModel & {
              readonly outcome?: string;
              readonly final_outcome?: string;
              readonly original_decision_id?: string;
            }
        : AnyMetadata;

/** The metadata that an event of this type may have. */
export type MetadataOf<Type extends string> = Type extends EventType
  ? OrUndefined<MetadataOfGroup<Type>>
  : AnyMetadata;

type Filled = "event_id" | "timestamp" | "event_type" | "risk_tier" | "metadata";

/** The same type with its arrays read-only. */
type Unwritten<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;

/** An optional member may also be undefined, which counts as absent: `exactOptionalPropertyTypes` distinguishes the two. */
type OrUndefined<Type> = {
  readonly [Name in keyof Type]: object extends Pick<Type, Name> ? Type[Name] | undefined : Type[Name];
};

/** All members of the event except those that the SDK fills in or types more precisely. */
type Members = OrUndefined<{
  readonly [Name in keyof Omit<AuditEvent, Filled>]: Unwritten<AuditEvent[Name]>;
}> & { readonly risk_tier?: RiskTier | undefined };

/** SPEC 2.1. */
export type RiskTier = "low" | "limited" | "high" | "prohibited";

interface Filling {
  /** A UUIDv7, or `evt_` and 1 to 250 characters; default: a new UUIDv7. Another event with that id is rejected, even if only its time differs. */
  readonly event_id?: string | undefined;
  /** When it happened, in UTC; default: the time of the call. */
  readonly timestamp?: string | Date | undefined;
  /** Identifiers that must not leave the process: they are hashed here into `subject_hash`, `context_hash`, `outcome_hash`. */
  readonly hash?:
    | {
        readonly subject?: string | Uint8Array | undefined;
        readonly context?: string | Uint8Array | undefined;
        readonly outcome?: string | Uint8Array | undefined;
      }
    | undefined;
}

export type EventOf<Type extends string> = Members &
  Filling & { readonly event_type: Type; readonly metadata?: MetadataOf<Type> | undefined };

/** One event. `Extra` names the event types that the service admits beside the documented ones (its setting EXTRA_EVENT_TYPES). */
export type CaptureEvent<Extra extends string = never> = {
  readonly [Type in EventType | Extra]: EventOf<Type>;
}[EventType | Extra];

/** Members that may be given once for many events. */
export type SharedMembers = Partial<Omit<Members, "subject_hash" | "context_hash" | "outcome_hash">> &
  Pick<Filling, "hash"> & { readonly metadata?: AnyMetadata | undefined };

/**
 * An event that may leave out the members given once. Distributes over the union even if there are none: otherwise the compiler does not accept a
 * client that knows more event types in place of one that knows fewer.
 */
export type EventWithout<Event, Given extends PropertyKey> = Event extends unknown
  ? Omit<Event, Given> & Partial<Pick<Event, Given & keyof Event>>
  : never;
