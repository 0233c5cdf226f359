/** How long events are shown, what is on hold, and what expires next. */
import { Type } from "@sinclair/typebox";
import { authorize } from "../../access/authenticate.ts";
import type { RefusedChange } from "../../access/refusal.ts";
import { ageOf, legalFloor, RETENTION_CLASSES } from "../../access/retention/age.ts";
import { FLOOR_NAMES, GENERAL_FLOOR, LEGAL_FLOORS, RETENTION_TIERS } from "../../access/retention/floors.ts";
import {
  HoldRecord,
  HoldRequest,
  PolicyRecord,
  PolicyRequest,
  ReleaseRequest,
  type RetentionPolicy,
} from "../../access/retention/records.ts";
import { checkPolicy, type PolicyAnswer } from "../../access/retention/retention.ts";
import { timeKey } from "../../event/formats.ts";
import { factOf } from "../../law/cases/fact.ts";
import { HOLDS_PER_TENANT_MAX } from "../../limits.ts";
import { holdsOver } from "../../views/cases/expiry.ts";
import { CASES_VIEW } from "../../views/cases/tables.ts";
import { countExpiring, type Expiring, readExpiring } from "../../views/events/expiring.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { MANAGING } from "../http/access.ts";
import { type Answer, give, type Refusal } from "../http/answers.ts";
import { actorOf, type Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import type { Entry } from "../http/downloads.ts";
import { insufficientScope } from "../http/guard.ts";
import { keptSource, type ListSource, listRoute } from "../http/lists.ts";
import { type Asked, type Asking, allOf, tenant, textAs, timeRange } from "../http/parameters.ts";
import { refusedChange } from "../http/refused-change.ts";
import { bodyFor, type Route } from "../http/route.ts";
import { bool, int, nullable, str, Time, time, wordsOf } from "../http/schemas.ts";
import { CHANGED } from "./keys.ts";

const RETENTION = { tag: "Retention", access: MANAGING } as const;
const TENANT = tenant("Any key but the admin key may only name its own.");
const WHAT_GOES =
  "Only rows of the views expire; the log keeps its records unchanged, forever. `GET /v1/events/{event_id}` then answers 410 with the record's place in the log.";
const HOLD_ID = { id: { example: "019dd0a2-5f5e-7b1c-8b7e-2f1f0f6b9a11" } };

export const retentionRoutes = ({ route, retention }: Dependencies): readonly Route[] => {
  return [
    route({
      ...RETENTION,
      on: "GET /v1/retention",
      id: "readRetention",
      summary: "How long events are kept",
      description: `The tenant's policy, and the resulting ages with their reasons. ${WHAT_GOES}`,
      query: { tenant: TENANT },
      gives: PolicyView,
      problems: ["log_unavailable"],
      answer: async ({ principal, asked }) => givePolicy(await retention.policy({ principal, ...asked })),
    }),
    route({
      ...RETENTION,
      on: "PUT /v1/retention",
      id: "setRetention",
      summary: "Set how long events are kept",
      description: `Replaces the earlier policy. Without \`maximum_days\` nothing expires. A maximum below the legal minimum of all events is refused; events whose legal bases require more are kept that long anyway. A tier not listed under \`tiers\` keeps at least its default. ${WHAT_GOES}`,
      body: bodyFor(PolicyRequest, {
        tenant: "acme",
        maximum_days: 400,
        tiers: { low: { maximum_days: 184 } },
      }),
      gives: PolicyView,
      problems: CHANGED,
      answer: async (call) =>
        givePolicy(await retention.setPolicy({ by: actorOf(call), request: call.body })),
    }),
  ];
};

export const holdRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route, retention } = dependencies;
  const release = async (call: Call, request?: unknown): Promise<Answer> => {
    const released = await retention.releaseHold({ by: actorOf(call), id: call.params.id ?? "", request });
    return released.kind === "hold" ? give(released.hold) : refused(released);
  };
  return [
    route({
      ...RETENTION,
      on: "POST /v1/holds",
      id: "placeHold",
      summary: "Place a hold",
      description: `Nothing of the asset or the case expires until the hold is released, however old it is. It restores nothing that has already expired, unless the views are rebuilt from nothing. A tenant has at most ${HOLDS_PER_TENANT_MAX} unreleased holds.`,
      body: bodyFor(HoldRequest, {
        tenant: "acme",
        asset_id: "credit_model",
        reason: "Complaint 2026-114, until the court has decided.",
      }),
      status: 201,
      gives: HoldRecord,
      answer: async (call) => {
        const placed = await retention.placeHold({ by: actorOf(call), request: call.body });
        return placed.kind === "hold" ? give(placed.hold) : refused(placed);
      },
    }),
    listRoute(
      dependencies,
      keptSource({
        name: "holds",
        members: HoldRecord.properties,
        tenant: TENANT,
        rows: async (principal, of) => {
          const found = await retention.holds({ principal, tenant: of });
          return found.kind === "holds" ? found.holds : refused(found);
        },
      }),
      {
        ...RETENTION,
        on: "GET /v1/holds",
        id: "listHolds",
        summary: "List holds",
        description: "Oldest first, released ones included. The admin key sees every tenant's.",
      },
    ),
    route({
      ...RETENTION,
      on: "DELETE /v1/holds/:id",
      id: "releaseHold",
      summary: "Release a hold",
      description:
        "What it kept may now expire, unless another hold covers it. The hold stays listed. Releasing a released hold changes nothing.",
      inPath: HOLD_ID,
      gives: HoldRecord,
      problems: CHANGED,
      answer: (call) => release(call),
    }),
    route({
      ...RETENTION,
      on: "POST /v1/holds/:id/release",
      id: "releaseHoldWithReason",
      summary: "Release a hold with a reason",
      description: "As `DELETE /v1/holds/{id}`; the reason stays with the hold.",
      inPath: HOLD_ID,
      body: bodyFor(ReleaseRequest, { reason: "The court has decided." }),
      gives: HoldRecord,
      problems: CHANGED,
      answer: (call) => release(call, call.body),
    }),
  ];
};

const givePolicy = (answer: PolicyAnswer | RefusedChange): Answer =>
  answer.kind === "policy" ? give(policyEntry(answer)) : refused(answer);

const policyEntry = ({ tenant, record }: Omit<PolicyAnswer, "kind">) => {
  const policy = record?.policy ?? {};
  return {
    tenant,
    policy,
    updated_at: record?.updated_at ?? null,
    updated_by: record?.updated_by ?? null,
    ages: RETENTION_CLASSES.map((kept) => ({
      risk_tier: kept.tier,
      legal_basis: kept.floor ?? null,
      ...ageOf(policy, kept),
    })),
    floors: [undefined, ...FLOOR_NAMES].map((floor) => ({
      legal_basis: floor ?? null,
      minimum_days: legalFloor({ floor }).days,
      clause: (floor ? LEGAL_FLOORS[floor] : GENERAL_FLOOR).clause,
    })),
  };
};

const refused = (refusal: RefusedChange): Refusal =>
  refusedChange(refusal, {
    name: "hold",
    changed: "this policy or hold",
    unavailable: "Policies and holds could not be read or changed",
  });

const Reason = Type.Object({
  code: wordsOf(["law", "tier_default", "policy_minimum", "policy_maximum", "no_maximum", "hold"]),
  text: Type.String(),
  clause: nullable(str("The article, where a law is the reason.")),
});

const PolicyView = Type.Object({
  tenant: PolicyRecord.properties.tenant,
  policy: PolicyRecord.properties.policy,
  updated_at: nullable(Time),
  updated_by: nullable(Type.String()),
  ages: Type.Array(
    Type.Object({
      risk_tier: wordsOf(RETENTION_TIERS),
      legal_basis: nullable(str("The basis of the event that asks for the longest time; null for none.")),
      days: nullable(int("Counted from the later of `timestamp` and `received_at`; null: kept.")),
      reason: Reason,
    }),
    { description: "The resulting age for each tier and law." },
  ),
  floors: Type.Array(
    Type.Object({
      legal_basis: nullable(str("Null: for every event.")),
      minimum_days: Type.Integer(),
      clause: Type.String(),
    }),
    { description: "The minimum under any policy." },
  ),
});

export const expiringRoutes = (dependencies: Dependencies): readonly Route[] => [
  listRoute(dependencies, expiringSource(dependencies), {
    on: "GET /v1/retention/expiring",
    access: MANAGING,
    id: "listExpiring",
    tag: "Retention",
    summary: "What expires next",
    description:
      "Events by the time at which the policy and the laws let them expire; with `order=asc` the next one first. Events that never expire are omitted, so without a policy the list is empty. Also needs `events:read`.",
  }),
];

const POLICY = textAs(
  "policy",
  'A policy to try: what `PUT /v1/retention` takes, as JSON, for example `{"maximum_days": 400}`. With `to` set to now and `count=true` it says how many events that policy would expire at once.',
  { type: "string", pattern: "^\\s*\\{" },
  (sent) => {
    try {
      return { value: checkPolicy(JSON.parse(sent)) };
    } catch {
      return { message: 'policy is not JSON: send one such as {"maximum_days": 400}, percent-encoded.' };
    }
  },
);

const CHECKED_POLICY: Asking<RetentionPolicy | undefined> = {
  documented: POLICY.documented,
  read: (query) => {
    const checked = POLICY.read(query);
    if (checked?.kind === "ok") return checked.policy;
    for (const { path, message } of checked?.problems ?? []) query.refuse(`policy${path}`, message);
    return undefined;
  },
};

const QUERY = { policy: CHECKED_POLICY, times: timeRange("What counts is `expires_at`.") };

const expiringSource = ({ views, retention }: Dependencies): ListSource<Asked<typeof QUERY>> => {
  const questionOf = async (tenant: string, { policy, times }: Asked<typeof QUERY>) => {
    const kept = await retention.keptBy(tenant);
    const [from, to] = [times.from, times.to].map((time) => time && timeKey(time));
    return { holds: kept.holds, question: { tenant, policy: policy ?? kept.policy, from, to } };
  };
  return {
    name: "expiring",
    views: [EVENTS_VIEW, CASES_VIEW],
    members: ExpiringEntry.properties,
    query: allOf(QUERY),
    found: (wanted, { principal }) => {
      // It shows events, which keys:manage alone may not see.
      const permission = authorize(principal, "events:read");
      return permission.kind === "ok" ? wanted : insufficientScope(permission.scope);
    },
    page: async (asked, { tenant }, page) => {
      const { holds, question } = await questionOf(tenant, asked);
      const found = await readExpiring(views, question, page);
      if (found.kind === "invalid_cursor") return found;
      const isHeld = await holdsOver(views, tenant, holds);
      const entries = found.events.map((event) =>
        entryOf(event, isHeld(factOf(event.facts, 0, event.received))),
      );
      return { kind: "page", entries, nextCursor: found.nextCursor };
    },
    count: async (asked, { tenant }) => countExpiring(views, (await questionOf(tenant, asked)).question),
  };
};

const ExpiringEntry = Type.Object({
  event_id: Type.String(),
  event_type: Type.String(),
  asset_id: Type.String(),
  risk_tier: wordsOf(RETENTION_TIERS),
  legal_basis: nullable(str("The basis of the event that asks for the longest time; null for none.")),
  counted_from: time("The later of `timestamp` and `received_at`, from which the age counts."),
  expires_at: time("When the age is reached. The event expires within an hour, unless `on_hold`."),
  on_hold: bool("A hold keeps it until it is released."),
});

const entryOf = ({ kept, facts, countedFrom, expires }: Expiring, isHeld: boolean): Entry => ({
  event_id: facts.eventId,
  event_type: facts.eventType,
  asset_id: facts.assetId,
  risk_tier: kept.tier,
  legal_basis: kept.floor ?? null,
  counted_from: `${countedFrom}Z`,
  expires_at: `${expires}Z`,
  on_hold: isHeld,
});
