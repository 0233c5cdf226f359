/** How many events were acknowledged, counted by those who acknowledged them and apart from the log: the port. */

/** An hour of `received_at` in UTC: `2026-11-20T10`. */
export type Hour = string;

export const hourOf = (receivedAt: string): Hour => receivedAt.slice(0, "2026-11-20T10".length);

export const HOUR_MS = 60 * 60 * 1000;

/** Of a moment, in milliseconds since 1970. */
export const hourAt = (ms: number): Hour => hourOf(new Date(ms).toISOString());

/** When it begins, in milliseconds since 1970. */
export const beginOfHour = (hour: Hour): number => Date.parse(`${hour}:00:00Z`);

export interface AcceptedCounts {
  /** Costs nothing now: it is handed on within ACCEPTED_FLUSH_MS. A process that is killed first, or whose broker is, has counted too few, never too many. */
  add(accepted: { readonly tenant: string; readonly receivedAt: string; readonly events: number }): void;
  /** By hour; an hour without a count is absent. Throws LogUnavailableError. */
  read(tenant: string, hours: readonly Hour[]): Promise<ReadonlyMap<Hour, number>>;
  /** Those of whom something was acknowledged in the hour. Throws LogUnavailableError. */
  tenants(hour: Hour): Promise<readonly string[]>;
  /** Hands on what is left. */
  close(): Promise<void>;
}
