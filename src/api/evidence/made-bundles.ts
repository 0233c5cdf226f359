/** The bundles of a tenant, from the events of the system's log. */
import { setImmediate as otherWork } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { ACTIONS } from "../../access/administration/system-events.ts";
import { SYSTEM_TENANT } from "../../access/tenant.ts";
import { CHECKED_ROWS_PER_READ, COUNT_EXACT_MAX } from "../../limits.ts";
import { type EventFilter, type StoredEvent, selectEvents, storedEvent } from "../../views/events/queries.ts";
import type { Count, Page } from "../../views/kit/list.ts";
import { readCursor, writeCursor } from "../../views/store/cursor.ts";
import type { ViewStore } from "../../views/store/view-store.ts";

const MADE = "system.evidence_made";
const FAILED = "system.action_failed";

const { manifest_sha256, records, filter } = ACTIONS[MADE].details.properties;

export const MadeBundle = Type.Object({
  sequence: Type.Integer({ description: "Of its event in the log of the system." }),
  event_id: Type.String(),
  made_at: Type.String({ format: "date-time" }),
  made_by: Type.String({ description: "Id of the key, or `admin`." }),
  filter,
  records,
  manifest_sha256,
  request_id: Type.String({ description: "As `request_id` in the manifest." }),
});
export type MadeBundle = Static<typeof MadeBundle>;

const isMade = TypeCompiler.Compile(
  Type.Object({
    event_id: Type.String(),
    timestamp: Type.String(),
    metadata: Type.Object({
      ...{ tenant: Type.String(), actor: Type.String(), request_id: Type.String() },
      ...{ manifest_sha256, records, filter },
    }),
  }),
);

/** Times at which they were made. */
export interface BundlePeriod {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export type BundlePage =
  | { readonly kind: "page"; readonly entries: readonly MadeBundle[]; readonly nextCursor: string | null }
  | { readonly kind: "invalid_cursor" };

type Views = Pick<ViewStore, "select">;

export const madeBundles = async (
  views: Views,
  tenant: string,
  period: BundlePeriod,
  { order, limit, cursor }: Page,
): Promise<BundlePage> => {
  const scope = JSON.stringify([MADE, tenant, period.from, period.to, order]);
  const start = cursor === undefined ? undefined : readCursor(cursor, scope);
  if (start?.kind === "invalid_cursor") return start;
  const [place] = start?.place ?? [];
  if (typeof place === "string") return { kind: "invalid_cursor" };
  const entries: MadeBundle[] = [];
  for await (const entry of bundlesOf(views, tenant, { ...period, order }, place)) {
    const last = entries.at(-1);
    if (entries.length === limit && last)
      return { kind: "page", entries, nextCursor: writeCursor({ place: [last.sequence], scope }) };
    entries.push(entry);
  }
  return { kind: "page", entries, nextCursor: null };
};

export const countBundles = async (views: Views, tenant: string, period: BundlePeriod): Promise<Count> => {
  let value = 0;
  for await (const _ of bundlesOf(views, tenant, { ...period, order: "desc" }))
    if (++value > COUNT_EXACT_MAX) return { value: COUNT_EXACT_MAX, exact: false };
  return { value, exact: true };
};

/** All tenants' bundles are looked through: an installation has few. */
async function* bundlesOf(
  views: Views,
  tenant: string,
  asked: Pick<EventFilter, "from" | "to" | "order">,
  after?: number,
): AsyncGenerator<MadeBundle> {
  // Their event could not be sealed in time, so nobody got them.
  const failed = new Set<unknown>();
  for await (const { eventText } of systemEvents(views, { order: "asc", eventType: FAILED }))
    failed.add(JSON.parse(eventText).metadata?.failed_event_id);
  for await (const { sequence, eventText } of systemEvents(views, { ...asked, eventType: MADE }, after)) {
    const event: unknown = JSON.parse(eventText);
    if (!isMade.Check(event) || event.metadata.tenant !== tenant || failed.has(event.event_id)) continue;
    const { event_id, timestamp: made_at, metadata } = event;
    const { actor: made_by, request_id, manifest_sha256, records, filter } = metadata;
    yield { sequence, event_id, made_at, made_by, filter, records, manifest_sha256, request_id };
  }
}

async function* systemEvents(
  views: Views,
  asked: Omit<EventFilter, "timeField">,
  start?: number,
): AsyncGenerator<StoredEvent> {
  const rowsMax = CHECKED_ROWS_PER_READ;
  for (let after = start; ; ) {
    const page = { after, rowsMax };
    const rows = await selectEvents(views, SYSTEM_TENANT, { ...asked, timeField: "timestamp" }, page);
    const events = rows.map(storedEvent);
    yield* events;
    after = events.at(-1)?.sequence;
    if (rows.length < rowsMax) return;
    // SQLite answers synchronously.
    await otherWork();
  }
}
