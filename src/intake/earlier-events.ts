/**
 * The broker knows what was sent in the last ten minutes. Who says that events may have been sent before that has them looked for among all that the
 * log holds; this is the port for it.
 */
import type { Sequence } from "../log/outcome.ts";
import type { Refusal } from "./answer.ts";

export interface EarlierEvents {
  /**
   * `eventIds` in canonical form (event/formats.ts), one for each event of a request. Everything that was in the log when this is called is looked
   * at, or nothing is said.
   */
  find(tenant: string, eventIds: readonly string[]): Promise<FoundEarlier>;
}

export type FoundEarlier =
  /** Where the first record of each event stands; what is not in it, the log did not hold. */
  | { readonly kind: "found"; readonly sequences: ReadonlyMap<string, Sequence> }
  | Extract<Refusal, { readonly kind: "view_behind" | "unavailable" }>;
