/** What becomes of a request to the service, as far as the sender of events must know. How events are sent is in `batch-delivery.ts` and `sandbox-delivery.ts`. */

/** Why the service did not take an event, in its own words. */
export interface Rejection {
  /** One of the documented codes, such as `invalid_event`; `status_413` and the like where the answer was not Prooftrail's. */
  readonly code: string;
  readonly message: string;
  readonly errors: readonly { readonly path: string; readonly code: string; readonly message: string }[];
}

/** The event was stored; a member of it was kept but has no meaning to the service, such as a misspelt one. */
export interface EventWarning {
  /** JSON Pointer into the event. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export interface PlacedWarning {
  /** Of its event in the request; undefined where it is about the request. */
  readonly position: number | undefined;
  readonly warning: EventWarning;
}

export type EventOutcome =
  | { readonly kind: "stored" }
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  /** Not stored, or unknown: the same again can help. */
  | { readonly kind: "again"; readonly reason: string };

/** By position. `askedMs`: nothing is to be sent before. */
export interface Answered {
  readonly kind: "answered";
  readonly outcomes: readonly EventOutcome[];
  readonly duplicates: number;
  readonly warnings: readonly PlacedWarning[];
  readonly askedMs?: number | undefined;
}

export type Delivery =
  | Answered
  /** Nothing is known of any of the events: no answer, or one that says to come again. */
  | {
      readonly kind: "again";
      readonly reason: string;
      readonly askedMs?: number | undefined;
      /**
       * What the very same request may fail by for ever: its size, where no answer came in time, or what one of its events holds, where the service, or what
       * stands before it, failed over it (500).
       */
      readonly suspect?: "size" | "content";
      /** The service itself said nothing: the way there may be broken, or be so for this request alone. */
      readonly isUnanswered?: true;
    }
  /** The key, the address or the service's set-up is at fault, and no event. */
  | { readonly kind: "refused"; readonly reason: string; readonly askedMs?: number | undefined }
  /** Something in the request was not taken. With one event it was that one. */
  | {
      readonly kind: "rejected";
      readonly rejection: Rejection;
      readonly isOurs: boolean;
      /** So was a request without events: it may not be for what the event holds. */
      readonly isForAll?: true;
      readonly askedMs?: number | undefined;
    };

/**
 * `events` are JSON texts; `mayBeResent` where one of them may have been sent longer ago than the broker remembers. Without events the service is asked
 * all the same, which shows whether it is there.
 */
export type Deliver = (request: {
  readonly events: readonly Uint8Array[];
  readonly mayBeResent: boolean;
  readonly signal: AbortSignal;
}) => Promise<Delivery>;
