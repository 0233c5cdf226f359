/** What a bundle is about; without any member it is about all events of the tenant. */
export interface EvidenceFilter {
  /** Any of these. */
  readonly assetIds?: readonly string[] | undefined;
  readonly correlationId?: string | undefined;
  readonly decisionId?: string | undefined;
  /** In lower case. */
  readonly subjectHash?: string | undefined;
  /** RFC 3339, UTC. Events whose own time is at or after this. */
  readonly from?: string | undefined;
  /** Events whose own time is before this. */
  readonly to?: string | undefined;
}

/** By the names of the request parameters, as a request writes them. */
export const filterMembers = (filter: EvidenceFilter): Readonly<Record<string, string>> => {
  const { assetIds, correlationId, decisionId, subjectHash, from, to } = filter;
  return {
    ...(assetIds !== undefined && { asset_id: assetIds.map(escaped).join(",") }),
    ...(correlationId !== undefined && { correlation_id: correlationId }),
    ...(decisionId !== undefined && { decision_id: decisionId }),
    ...(subjectHash !== undefined && { subject_hash: subjectHash }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
};

const escaped = (value: string): string => value.replaceAll(/\\(?=[\\,])|,/g, "\\$&");
