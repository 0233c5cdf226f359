/** The outcome of one record. A closed set: an append returns one of these, and callers must handle each. */

/** Position of a message in the stream, counted from 1 by the broker. */
export type Sequence = number;

export type Outcome =
  /** Stored and fsynced now. */
  | { readonly kind: "appended"; readonly sequence: Sequence }
  /** The message id is known: `sequence` is the first message with it. Whether its content is the same is not known here. */
  | { readonly kind: "duplicate"; readonly sequence: Sequence }
  /** Certainly not stored. `overloaded`: our own limits; `unavailable`: the broker is away or its disk is full. */
  | { readonly kind: "refused"; readonly reason: "overloaded" | "unavailable"; readonly detail: string }
  /** No answer came. It may be stored; sending it again is safe, because of the message id. */
  | { readonly kind: "unknown"; readonly detail: string };
