/** Which events expire next. */
import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { authorize } from "../../access/authenticate.ts";
import { isOnHold } from "../../access/retention/age.ts";
import { RETENTION_TIERS } from "../../access/retention/floors.ts";
import type { HoldRecord, RetentionPolicy } from "../../access/retention/records.ts";
import { checkPolicy, type KeptByTenant, type Retention } from "../../access/retention/retention.ts";
import { timeKey } from "../../event/formats.ts";
import { factOf } from "../../law/cases/fact.ts";
import { LogUnavailableError } from "../../log/event-log.ts";
import { nodesOf } from "../../views/cases/nodes.ts";
import { namesOfCase } from "../../views/cases/queries.ts";
import { CASES_VIEW } from "../../views/cases/tables.ts";
import { countExpiring, type Expiring, readExpiring } from "../../views/events/expiring.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { MANAGING } from "../http/access.ts";
import { fileForms } from "../http/entry-file.ts";
import { type Guard, insufficientScope } from "../http/guard.ts";
import {
  LIST_PARAMETERS,
  LIST_PROBLEMS,
  type ListDependencies,
  type ListSource,
  listAnswer,
} from "../http/list-answer.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import type { Query } from "../http/query.ts";
import { parameter } from "../http/reading.ts";
import { listOf } from "../http/schemas.ts";
import { readTimeRange, timeRangeParameters } from "../http/time-range.ts";

interface Dependencies extends ListDependencies {
  readonly guard: Guard;
  readonly retention: Pick<Retention, "keptBy">;
}

export const expiringRoutes = ({ guard, ...dependencies }: Dependencies) => {
  const list = listAnswer(dependencies, expiringSource(dependencies));
  return new Elysia({ prefix: "/v1" }).get(
    "/retention/expiring",
    guard(MANAGING, (call) => {
      // It shows events, which a key for keys alone does not see.
      const permission = authorize(call.principal, "events:read");
      return permission.kind === "ok" ? list(call) : insufficientScope(call.context, permission.scope);
    }),
    { detail: describe(READ) },
  );
};

interface Asked {
  /** Undefined: that of the tenant. */
  readonly policy: RetentionPolicy | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

const expiringSource = ({
  views,
  retention,
}: Pick<Dependencies, "views" | "retention">): ListSource<Asked> => {
  const keptBy = async (tenant: string): Promise<KeptByTenant> => {
    const kept = await retention.keptBy(tenant);
    if (kept.kind === "kept") return kept;
    throw new LogUnavailableError(`Policies and holds could not be read: ${kept.detail}.`);
  };
  return {
    name: "expiring",
    views: [EVENTS_VIEW, CASES_VIEW],
    columns: Object.keys(Entry.properties),
    ask: (query) => {
      const { from, to } = readTimeRange(query);
      return { policy: readPolicy(query), from: from && timeKey(from), to: to && timeKey(to) };
    },
    page: async (asked, tenant, page) => {
      const { policy: ownPolicy, holds } = await keptBy(tenant);
      const { policy = ownPolicy, from, to } = asked;
      const found = await readExpiring(views, { tenant, policy, from, to }, page);
      if (found.kind === "invalid_cursor") return found;
      const isHeld = await holdsOver(views, tenant, holds);
      const entries = found.events.map((event) => entryOf(event, isHeld(event)));
      return { kind: "page", entries, nextCursor: found.nextCursor };
    },
    count: async (asked, tenant) => {
      const { policy = (await keptBy(tenant)).policy, from, to } = asked;
      return countExpiring(views, { tenant, policy, from, to });
    },
  };
};

const readPolicy = (query: Query): RetentionPolicy | undefined => {
  const said = query.read("policy", (text) => {
    try {
      const request: unknown = JSON.parse(text);
      return { value: { request } };
    } catch {
      return { message: POLICY_EXPECTED };
    }
  });
  if (said === undefined) return undefined;
  const checked = checkPolicy(said.request);
  if (checked.kind === "ok") return checked.policy;
  for (const { path, message } of checked.problems) query.refuse(`policy${path}`, message);
  return undefined;
};

const POLICY_EXPECTED = 'policy is not JSON: send a policy such as {"maximum_days": 400}, percent-encoded.';

/** Whether a hold keeps an event: as the process that removes what has expired asks. */
const holdsOver = async (
  views: Dependencies["views"],
  tenant: string,
  holds: readonly HoldRecord[],
): Promise<(event: Expiring) => boolean> => {
  const active = holds.filter(({ released_at }) => released_at === undefined);
  const cases: (readonly [string, ReadonlySet<string>])[] = [];
  for (const { correlation_id: id } of active)
    if (id !== undefined) cases.push([id, await namesOfCase(views, tenant, id)]);
  return ({ facts, received }) => {
    const names = nodesOf(factOf(facts, 0, received));
    const correlationIds = cases
      .filter(([, members]) => names.some((name) => members.has(name)))
      .map(([id]) => id);
    return isOnHold({ assetId: facts.assetId, correlationIds }, active);
  };
};

const Entry = Type.Object({
  event_id: Type.String(),
  event_type: Type.String(),
  asset_id: Type.String(),
  risk_tier: Type.Union(RETENTION_TIERS.map((tier) => Type.Literal(tier))),
  legal_basis: Type.Union([Type.String(), Type.Null()], {
    description: "The basis of the event that asks for the longest time; null for none.",
  }),
  counted_from: Type.String({
    format: "date-time",
    description: "The later of `timestamp` and `received_at`, from which the age counts.",
  }),
  expires_at: Type.String({
    format: "date-time",
    description: "When the age is reached. The event goes within an hour after that, unless `on_hold`.",
  }),
  on_hold: Type.Boolean({ description: "A hold keeps it until it is released." }),
});

const entryOf = ({ kept, facts, countedFrom, expires }: Expiring, isHeld: boolean): Static<typeof Entry> => ({
  event_id: facts.eventId,
  event_type: facts.eventType,
  asset_id: facts.assetId,
  risk_tier: kept.tier,
  legal_basis: kept.floor ?? null,
  counted_from: `${countedFrom}Z`,
  expires_at: `${expires}Z`,
  on_hold: isHeld,
});

const EXAMPLE: Static<typeof Entry> = {
  event_id: "evt_0042",
  event_type: "decision.automated_decision_made",
  asset_id: "credit_model",
  risk_tier: "low",
  legal_basis: null,
  counted_from: "2026-11-20T10:00:00.512Z",
  expires_at: "2027-05-23T10:00:00.512Z",
  on_hold: false,
};

const READ: Operation = {
  id: "listExpiring",
  tag: "Retention",
  summary: "What expires next",
  description:
    "Events by the time at which the policy and the laws let them expire; with `order=asc` the next one first. Events that never expire are left out, so without a policy the list is empty. It needs `events:read` as well.",
  access: MANAGING,
  parameters: [
    parameter(
      "policy",
      'As if this were the policy: what `PUT /v1/retention` takes, as JSON, for example `{"maximum_days": 400}`. With `to` as the present time and `count=true` it says how many events such a policy would let expire at once.',
      { type: "string", pattern: "^\\s*\\{" },
    ),
    ...timeRangeParameters("What counts is `expires_at`."),
    ...LIST_PARAMETERS,
  ],
  answer: {
    status: 200,
    description: "One page.",
    schema: listOf(Entry),
    example: { data: [EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
    others: fileForms(Object.keys(Entry.properties), EXAMPLE),
  },
  problems: LIST_PROBLEMS,
};
