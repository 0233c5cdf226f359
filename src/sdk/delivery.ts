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
      /** No answer of the service itself: the connection may be broken, or something blocks this request only. */
      readonly isUnanswered?: true;
    }
  /** The key, the address or the configuration of the service is wrong, not an event. */
  | { readonly kind: "refused"; readonly reason: string; readonly askedMs?: number | undefined }
  /** Something in the request was refused. If it carried one event, it was that event. */
  | {
      readonly kind: "rejected";
      readonly rejection: Rejection;
      readonly isOurs: boolean;
      /** A request without events was refused as well, so the content of the event may not be the reason. */
      readonly isForAll?: true;
      readonly askedMs?: number | undefined;
    };

/**
 * `events` are JSON texts. `mayBeResent`: one of them may have been sent longer ago than the broker remembers. A request without events is sent too;
 * it shows whether the service answers.
 */
export type Deliver = (request: {
  readonly events: readonly Uint8Array[];
  readonly mayBeResent: boolean;
  readonly signal: AbortSignal;
}) => Promise<Delivery>;
