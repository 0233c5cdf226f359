/** What a bundle is about; all events of the tenant where nothing is said. */
export interface EvidenceFilter {
  readonly assetId?: string | undefined;
  readonly correlationId?: string | undefined;
  /** RFC 3339, UTC; of the events' own times: at or after. */
  readonly from?: string | undefined;
  /** Before. */
  readonly to?: string | undefined;
}

/** As parameters name them. */
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
