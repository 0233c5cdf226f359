import { type EventFacts, metadataName } from "../../event/facts.ts";
import { canonicalEventId } from "../../event/formats.ts";

/** A name that is a UUID is compared like an event_id. An event that names no assessment is about the only one of its asset. */
export const assessmentId = ({ metadata, assetId }: EventFacts): string => {
  const named = metadataName(metadata, "assessment_id");
  return named === undefined ? assetId : canonicalEventId(named);
};
