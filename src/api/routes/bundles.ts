/** The bundles created so far, from the system log's events. */
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { ACTIONS } from "../../access/administration/system-events.ts";
import { Person } from "../../access/seats.ts";
import { SYSTEM_TENANT } from "../../access/tenant.ts";
import { COUNT_EXACT_MAX } from "../../limits.ts";
import type { EventConditions } from "../../views/events/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { walkEvents } from "../../views/events/walk.ts";
import { readCursor, writeCursor } from "../../views/store/cursor.ts";
import { MADE_BUNDLES } from "../http/access.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { listRoute } from "../http/lists.ts";
import { timeRange } from "../http/parameters.ts";
import type { Route } from "../http/route.ts";
import { int, nullable, str, Time } from "../http/schemas.ts";

const MADE = "system.evidence_made";
const { manifest_sha256, records, filter } = ACTIONS[MADE].details.properties;

const MEMBERS = {
  sequence: int("Of its event in the system log."),
  event_id: Type.String(),
  made_at: Time,
  made_by: str("Id of the key, or `admin`."),
  filter,
  records,
  manifest_sha256,
  request_id: str("As `request_id` in the manifest."),
  made_by_name: nullable(str("The name of the key, if it has one.")),
  made_by_person: nullable(Person),
};

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

type Period = Pick<EventConditions, "from" | "to">;

export const bundleRoutes = (dependencies: Dependencies): readonly Route[] => {
  const list = (period: Period, tenant: string) => bundlesOf(dependencies, tenant, period);
  return [
    listRoute(
      dependencies,
      {
        name: "bundles",
        views: [EVENTS_VIEW],
        members: MEMBERS,
        query: timeRange("Compares when the bundle was created."),
        page: async (period, { tenant }, { order, limit, cursor }) => {
          const scope = JSON.stringify([MADE, tenant, period.from, period.to, order]);
          const start = cursor === undefined ? undefined : readCursor(cursor, scope);
          if (start?.kind === "invalid_cursor") return start;
          const [place = order === "asc" ? 0 : Number.POSITIVE_INFINITY] = start?.place ?? [];
          if (typeof place === "string") return { kind: "invalid_cursor" };
          const all = await list(period, tenant);
          const found = all.filter(({ sequence }) => (order === "asc" ? sequence > place : sequence < place));
          const entries = (order === "asc" ? found : found.toReversed()).slice(0, limit);
          const last = found.length > limit ? entries.at(-1) : undefined;
          const nextCursor = last ? writeCursor({ place: [last.sequence], scope }) : null;
          return { kind: "page", entries, nextCursor };
        },
        count: async (period, { tenant }) => {
          const { length } = await list(period, tenant);
          return { value: Math.min(length, COUNT_EXACT_MAX), exact: length <= COUNT_EXACT_MAX };
        },
      },
      {
        on: "GET /v1/evidence/bundles",
        access: MADE_BUNDLES,
        id: "listBundles",
        tag: "Proof",
        summary: "List evidence bundles",
        description:
          "Each bundle of the tenant, from its event `system.evidence_made`: what it is about, how many records it has, who created it, and the SHA-256 of its `manifest.json`, which identifies a file. It does not say whether the download was completed.",
      },
    ),
  ];
};

/** Oldest first. Scans all tenants' bundles: an installation has few. */
const bundlesOf = async ({ views, keyStore }: Dependencies, tenant: string, period: Period) => {
  const end = await views.position(EVENTS_VIEW);
  const events = async function* (eventType: string, times: Period = {}) {
    const conditions = { ...times, eventType, timeField: "timestamp" } as const;
    const walk = walkEvents({ views, tenant: SYSTEM_TENANT, conditions, after: 0 });
    while (walk.position() < end)
      for (const { sequence, eventText } of await walk.next(end))
        yield { sequence, event: JSON.parse(eventText) };
  };
  // Their event could not be sealed in time, so nobody got them.
  const failed = new Set<unknown>();
  for await (const { event } of events("system.action_failed")) failed.add(event.metadata?.failed_event_id);
  const bundles = [];
  for await (const { sequence, event } of events(MADE, period)) {
    if (!isMade.Check(event) || event.metadata.tenant !== tenant || failed.has(event.event_id)) continue;
    const { tenant: _, actor: made_by, ...made } = event.metadata;
    const { name = null, person = null } = keyStore.get(made_by) ?? {};
    bundles.push({
      ...{ sequence, event_id: event.event_id, made_at: event.timestamp, made_by },
      ...{ filter: made.filter, records: made.records, manifest_sha256: made.manifest_sha256 },
      ...{ request_id: made.request_id, made_by_name: name, made_by_person: person },
    });
  }
  return bundles;
};
