/** Finds which of some events the log already contains, however old they are, and which of them have expired: their identity stays. */
import { setImmediate as otherWork } from "node:timers/promises";
import type { Sequence } from "../../log/outcome.ts";
import { EVENT_IDS_PER_QUERY } from "../kit/limits.ts";
import { waitForPosition } from "../kit/wait-for-position.ts";
import { type Row, rowText } from "../store/tables.ts";
import { type TenantQuery, tenantList } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";
import { EVENTS, EVENTS_VIEW, isExpired, sequenceOf } from "./tables.ts";

/**
 * The sequence of each event that is in the log up to `upTo`, by its event_id; undefined if the view has not reached `upTo` within `timeoutMs`.
 * `eventIds` are in canonical form.
 */
export const findEarlier = async (search: {
  readonly views: Pick<ViewStore, "select" | "position">;
  readonly tenant: string;
  readonly eventIds: readonly string[];
  readonly upTo: Sequence;
  readonly timeoutMs: number;
}): Promise<ReadonlyMap<string, Sequence> | undefined> => {
  const { views, tenant, upTo, timeoutMs } = search;
  const deadline = performance.now() + timeoutMs;
  const eventIds = [...new Set(search.eventIds)];
  const wait = { views, projection: EVENTS_VIEW, sequence: upTo };
  while (await waitForPosition({ ...wait, timeoutMs: deadline - performance.now() })) {
    const rows = await identitiesOf(views, tenant, eventIds);
    const found = new Map(rows.map((row) => [rowText(row, "event_id"), sequenceOf(row)]));
    // A view that was rebuilt may replace this one from up to 1000 records behind: what it lacks then means nothing.
    if (found.size === eventIds.length || (await views.position(wait.projection)) >= upTo) return found;
  }
  return undefined;
};

export const findExpired = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  eventIds: Iterable<string>,
): Promise<ReadonlySet<string>> => {
  const rows = await identitiesOf(views, tenant, [...new Set(eventIds)]);
  return new Set(rows.filter(isExpired).map((row) => rowText(row, "event_id")));
};

const identitiesOf = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  eventIds: readonly string[],
): Promise<readonly Row[]> => {
  const found: Row[] = [];
  for (let start = 0; start < eventIds.length; start += EVENT_IDS_PER_QUERY) {
    // SQLite answers synchronously in this process.
    if (start > 0) await otherWork();
    const query = earlierQuery(tenant, eventIds.slice(start, start + EVENT_IDS_PER_QUERY));
    found.push(...(await views.select(query)));
  }
  return found;
};

export const earlierQuery = (tenant: string, eventIds: readonly string[]): TenantQuery => {
  // Filled up, so that databases prepare one statement instead of one for each number of ids.
  const values = Array.from(
    { length: EVENT_IDS_PER_QUERY },
    (_, index) => eventIds[index] ?? eventIds[0] ?? "",
  );
  return tenantList({
    tenant,
    table: EVENTS,
    columns: ["event_id", "sequence"],
    where: [{ kind: "one_of", column: "event_id", values }],
    orderBy: ["event_id"],
    order: "asc",
    rowsMax: EVENT_IDS_PER_QUERY,
  });
};
