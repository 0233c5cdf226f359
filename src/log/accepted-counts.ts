/** Counts acknowledged events, by those who acknowledged them and independent of the log: the port. */

/** An hour of `received_at` in UTC: `2026-11-20T10`. */
export type Hour = string;

export const hourOf = (receivedAt: string): Hour => receivedAt.slice(0, "2026-11-20T10".length);

export const HOUR_MS = 60 * 60 * 1000;

export const hourAt = (ms: number): Hour => hourOf(new Date(ms).toISOString());

export const beginOfHour = (hour: Hour): number => Date.parse(`${hour}:00:00Z`);

export interface AcceptedCounts {
  /**
   * Costs nothing now: counts are stored within COUNTS_FLUSH_MS. If this process or its broker is killed first, too few are counted, never too
   * many.
   */
  add(accepted: { readonly tenant: string; readonly receivedAt: string; readonly events: number }): void;
  /** Counts by hour; an hour without a count is absent. Throws LogUnavailableError. */
  read(tenant: string, hours: readonly Hour[]): Promise<ReadonlyMap<Hour, number>>;
  /** The tenants with an acknowledged event in the hour. Throws LogUnavailableError. */
  tenants(hour: Hour): Promise<readonly string[]>;
  close(): Promise<void>;
}
