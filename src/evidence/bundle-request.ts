import type { EvidenceFilter } from "./evidence-filter.ts";
import type { Selection } from "./selection.ts";

/** What a bundle is made of, and for whom. */
export interface BundleRequest {
  readonly tenant: string;
  readonly filter: EvidenceFilter;
  readonly selection: Selection;
  readonly serviceName: string;
  /** Name and version of the program. */
  readonly generator: string;
  readonly generatedAt: Date;
  /** The id of the key that asked. */
  readonly madeBy: string;
  readonly requestId: string;
}
