/** The bundles of a tenant, from the events of the system's log. */
import { setImmediate as otherWork } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { ACTIONS } from "../../access/administration/system-events.ts";
import { SYSTEM_TENANT } from "../../access/tenant.ts";
import { CHECKED_ROWS_MAX, CHECKED_ROWS_PER_READ, COUNT_EXACT_MAX } from "../../limits.ts";
import { type EventFilter, selectEvents, storedEvent } from "../../views/events/queries.ts";
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
      tenant: Type.String(),
      actor: Type.String(),
      request_id: Type.String(),
      manifest_sha256,
      records,
      filter,
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

/** All tenants' bundles are looked through: an installation has few. Past CHECKED_ROWS_MAX of them a page ends early, with a next one. */
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
  const nextAfter = (sequence: number) => writeCursor({ place: [sequence], scope });
  let after = place;
  let looked = 0;
  for await (const rows of pagesOf(views, { ...period, order, eventType: MADE }, after)) {
    for (const { sequence, tenant: of, entry } of await finishedOf(views, rows)) {
      const last = entries.at(-1);
      if (of !== tenant) continue;
      if (entries.length === limit && last)
        return { kind: "page", entries, nextCursor: nextAfter(last.sequence) };
      entries.push({ ...entry, sequence });
    }
    after = rows.at(-1)?.sequence ?? after;
    looked += rows.length;
    if (looked >= CHECKED_ROWS_MAX && after !== undefined)
      return { kind: "page", entries, nextCursor: nextAfter(after) };
  }
  return { kind: "page", entries, nextCursor: null };
};

export const countBundles = async (views: Views, tenant: string, period: BundlePeriod): Promise<Count> => {
  let value = 0;
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await madeBundles(views, tenant, period, {
      order: "desc",
      limit: CHECKED_ROWS_PER_READ,
      ...(cursor !== undefined && { cursor }),
    });
    if (page.kind !== "page") throw new Error("a list takes its own cursor");
    value += page.entries.length;
    if (value > COUNT_EXACT_MAX) return { value: COUNT_EXACT_MAX, exact: false };
    cursor = page.nextCursor;
  }
  return { value, exact: true };
};

type StoredRows = readonly { readonly sequence: number; readonly eventText: string }[];

async function* pagesOf(
  views: Views,
  asked: Omit<EventFilter, "timeField">,
  start: number | undefined,
): AsyncGenerator<StoredRows> {
  const rowsMax = CHECKED_ROWS_PER_READ;
  const filter = { ...asked, timeField: "timestamp" } as const;
  for (let after = start; ; ) {
    const found = await selectEvents(views, SYSTEM_TENANT, filter, { after, rowsMax });
    const rows = found.map(storedEvent);
    const last = rows.at(-1);
    if (last) yield rows;
    if (!last || rows.length < rowsMax) return;
    after = last.sequence;
    // SQLite answers synchronously.
    await otherWork();
  }
}

/** Without those whose event could not be sealed in time: nobody got them. */
const finishedOf = async (views: Views, rows: StoredRows) => {
  const made = rows.flatMap(({ sequence, eventText }) => {
    const event: unknown = JSON.parse(eventText);
    if (!isMade.Check(event)) return [];
    const { tenant, actor, request_id, manifest_sha256, records, filter } = event.metadata;
    const { event_id, timestamp: made_at } = event;
    return [
      {
        sequence,
        tenant,
        entry: { event_id, made_at, made_by: actor, filter, records, manifest_sha256, request_id },
      },
    ];
  });
  const first = Math.min(...made.map(({ sequence }) => sequence));
  const failed = new Set<unknown>();
  for await (const marks of pagesOf(views, { order: "asc", eventType: FAILED }, first))
    for (const { eventText } of marks) failed.add(JSON.parse(eventText).metadata?.failed_event_id);
  return made.filter(({ entry }) => !failed.has(entry.event_id));
};
