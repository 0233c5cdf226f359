/** What a bundle is about; without any member it is about all events of the tenant. */
export interface EvidenceFilter {
  readonly assetId?: string | undefined;
  readonly correlationId?: string | undefined;
  /** RFC 3339, UTC. Events whose own time is at or after this. */
  readonly from?: string | undefined;
  /** Events whose own time is before this. */
  readonly to?: string | undefined;
}

/** By the names of the request parameters. */
export const filterMembers = ({
  assetId,
  correlationId,
  from,
  to,
}: EvidenceFilter): Readonly<Record<string, string>> => ({
  ...(assetId !== undefined && { asset_id: assetId }),
  ...(correlationId !== undefined && { correlation_id: correlationId }),
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});
