/**
 * The port behind `resent=true`. The broker knows only the ids of the last ten minutes; this looks for events among everything that the log
 * holds.
 */
import type { Sequence } from "../../log/outcome.ts";
import type { Refusal } from "./answer.ts";

export interface EarlierEvents {
  /**
   * `eventIds` in canonical form (event/formats.ts), one per event of a request. The answer covers everything that was in the log when this
   * was called.
   */
  find(tenant: string, eventIds: readonly string[]): Promise<FoundEarlier>;
}

export type FoundEarlier =
  /** Sequence of the first record of each event. The log does not hold events without an entry. */
  | { readonly kind: "found"; readonly sequences: ReadonlyMap<string, Sequence> }
  | Extract<Refusal, { readonly kind: "view_behind" | "unavailable" }>;
