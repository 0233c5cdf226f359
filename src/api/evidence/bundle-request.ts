import type { EvidenceFilter } from "./evidence-filter.ts";
import type { Selection } from "./selection.ts";
import type { SummaryLanguage } from "./summary-words.ts";

/** The content of a bundle, and who asked for it. */
export interface BundleRequest {
  readonly tenant: string;
  readonly filter: EvidenceFilter;
  readonly selection: Selection;
  readonly serviceName: string;
  /** Of summary.html. */
  readonly language: SummaryLanguage;
  /** Name and version of the program. */
  readonly generator: string;
  readonly generatedAt: Date;
  /** The id of the requesting key. */
  readonly madeBy: string;
  readonly requestId: string;
}
