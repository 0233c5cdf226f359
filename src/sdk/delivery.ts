/** The outcome of a request to the service, as the sender of events sees it. `batch-delivery.ts` and `sandbox-delivery.ts` send the events. */

/** Why the service refused an event, in its own words. */
export interface Rejection {
  /** A documented code, such as `invalid_event`; or `status_413` and the like if the answer did not come from Prooftrail. */
  readonly code: string;
  readonly message: string;
  readonly errors: readonly { readonly path: string; readonly code: string; readonly message: string }[];
}

/** The event was stored, but a member of it means nothing to the service, such as a misspelt one. */
export interface EventWarning {
  /** JSON Pointer into the event. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export interface PlacedWarning {
  /** Position of the event in the request; undefined if the warning is about the whole request. */
  readonly position: number | undefined;
  readonly warning: EventWarning;
}

export type EventOutcome =
  | { readonly kind: "stored" }
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  /** Not stored, or not known to be stored: sending it again can help. */
  | { readonly kind: "again"; readonly reason: string };

/** Outcomes by position. `askedMs`: the service asked to send nothing for that time. */
export interface Answered {
  readonly kind: "answered";
  readonly outcomes: readonly EventOutcome[];
  readonly duplicates: number;
  readonly warnings: readonly PlacedWarning[];
  readonly askedMs?: number | undefined;
}

export type Delivery =
  | Answered
  /** The outcome of all events is unknown: no answer came, or one that says to try again. */
  | {
      readonly kind: "again";
      readonly reason: string;
      readonly askedMs?: number | undefined;
      /**
       * Why the very same request may fail again and again: its size, if no answer came in time; or the content of an event, if the service, or
       * something in front of it, answered 500.
       */
      readonly suspect?: "size" | "content";
    }
  /** The key, the address or the configuration of the service is wrong, not an event. */
  | { readonly kind: "refused"; readonly reason: string; readonly askedMs?: number | undefined }
  /** Something in the request was refused. If it carried one event, it was that event. */
  | {
      readonly kind: "rejected";
      readonly rejection: Rejection;
      readonly isOurs: boolean;
      readonly askedMs?: number | undefined;
    };

/**
 * `events` are JSON texts. `mayBeResent`: one of them may have been sent longer ago than the broker remembers.
 */
export type Deliver = (request: {
  readonly events: readonly string[];
  readonly mayBeResent: boolean;
  readonly signal: AbortSignal;
}) => Promise<Delivery>;
/** Whether the refusal of a request with one event is final. A 413 is about the event, whoever answered it. */
export const isFinal = ({ rejection, isOurs }: Extract<Delivery, { kind: "rejected" }>): boolean =>
  isOurs || rejection.code === "status_413";

/** The service's reason, and which members of the event it is about. */
export const reasonOf = ({ message, errors }: Rejection): string =>
  [message, ...errors.map((error) => `${error.path}: ${error.message}`)].join(" ");
