/** How long events are shown, and what is on hold. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ageOf, legalFloor, RETENTION_CLASSES } from "../../access/retention/age.ts";
import { FLOOR_NAMES, GENERAL_FLOOR, LEGAL_FLOORS, RETENTION_TIERS } from "../../access/retention/floors.ts";
import {
  HoldRecord,
  HoldRequest,
  PolicyRecord,
  PolicyRequest,
  ReleaseRequest,
} from "../../access/retention/records.ts";
import type {
  PolicyAnswer,
  Retention,
  RetentionRefusal,
  RetentionUndone,
} from "../../access/retention/retention.ts";
import { HOLDS_PER_TENANT_MAX } from "../../limits.ts";
import { MANAGING } from "../http/access.ts";
import type { BodyReader } from "../http/body.ts";
import { actorOf, type Call } from "../http/call.ts";
import type { ExportDependencies } from "../http/downloads.ts";
import { fileForms } from "../http/entry-file.ts";
import type { Guard } from "../http/guard.ts";
import { readJson } from "../http/json-body.ts";
import { answerKeptList, KEPT_PARAMETERS, readKeptForm } from "../http/list-answer.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { readQuery } from "../http/query.ts";
import { pathParameter, readTenant, tenantParameter } from "../http/reading.ts";
import { refusedChange } from "../http/refused-change.ts";
import type { RequestContext } from "../http/request-context.ts";
import { dataOf, listOf } from "../http/schemas.ts";
import { success } from "../http/success.ts";
import { timeRangeParameters } from "../http/time-range.ts";
import { withoutQuery } from "../http/without-query.ts";

interface Dependencies extends ExportDependencies {
  readonly retention: Retention;
  readonly bodies: BodyReader;
}

export const retentionRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) =>
  new Elysia({ prefix: "/v1" })
    .get(
      "/retention",
      guard(MANAGING, (call) => getPolicy(dependencies.retention, call)),
      { detail: describe(READ) },
    )
    .put(
      "/retention",
      guard(
        MANAGING,
        withoutQuery((call) => putPolicy(dependencies, call)),
      ),
      { parse: "none", detail: describe(SET) },
    )
    .post(
      "/holds",
      guard(
        MANAGING,
        withoutQuery((call) => postHold(dependencies, call)),
      ),
      { parse: "none", detail: describe(HOLD) },
    )
    .get(
      "/holds",
      guard(MANAGING, (call) => getHolds(dependencies, call)),
      { detail: describe(LIST) },
    )
    .delete(
      "/holds/:id",
      guard(
        MANAGING,
        withoutQuery((call) => releaseHold(dependencies.retention, call)),
      ),
      { parse: "none", detail: describe(RELEASE) },
    )
    .post(
      "/holds/:id/release",
      guard(
        MANAGING,
        withoutQuery(async (call) => {
          const body = await readJson(dependencies.bodies, call);
          return body instanceof Response ? body : releaseHold(dependencies.retention, call, body.value);
        }),
      ),
      { parse: "none", detail: describe(RELEASE_WITH_REASON) },
    );

const getPolicy = async (retention: Retention, { request, context, principal }: Call): Promise<Response> => {
  const query = readQuery(request.url);
  const tenant = readTenant(query);
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  return answerPolicy(context, await retention.policy({ principal, tenant }));
};

const putPolicy = async ({ retention, bodies }: Dependencies, call: Call): Promise<Response> => {
  const { context } = call;
  const body = await readJson(bodies, call);
  if (body instanceof Response) return body;
  return answerPolicy(context, await retention.setPolicy({ by: actorOf(call), request: body.value }));
};

const answerPolicy = (
  context: RequestContext,
  answer: PolicyAnswer | RetentionRefusal | RetentionUndone,
): Response =>
  answer.kind === "policy"
    ? success({ requestId: context.requestId, data: policyEntry(answer) })
    : refused(context, answer);

/** The policy as it was set, and the resulting ages for each tier and law. */
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

const postHold = async ({ retention, bodies }: Dependencies, call: Call): Promise<Response> => {
  const { context } = call;
  const body = await readJson(bodies, call);
  if (body instanceof Response) return body;
  const answer = await retention.placeHold({ by: actorOf(call), request: body.value });
  if (answer.kind !== "hold") return refused(context, answer);
  return success({ status: 201, requestId: context.requestId, data: answer.hold });
};

const getHolds = async (dependencies: Dependencies, call: Call): Promise<Response> => {
  const { request, context, principal } = call;
  const query = readQuery(request.url);
  const tenant = readTenant(query);
  const form = readKeptForm(query);
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  const answer = await dependencies.retention.holds({ principal, tenant });
  if (answer.kind !== "holds") return refused(context, answer);
  return answerKeptList(dependencies, call, {
    name: "holds",
    columns: HOLD_COLUMNS,
    rows: answer.holds,
    tenant,
    form,
  });
};

const releaseHold = async (retention: Retention, call: Call, request?: unknown): Promise<Response> => {
  const { context, params } = call;
  const answer = await retention.releaseHold({ by: actorOf(call), id: params.id ?? "", request });
  if (answer.kind !== "hold") return refused(context, answer);
  return success({ requestId: context.requestId, data: answer.hold });
};

const refused = (
  context: RequestContext,
  refusal: RetentionRefusal | RetentionUndone | { readonly kind: "not_found" },
): Response =>
  refusedChange(context, refusal, {
    name: "hold",
    changed: "this policy or hold",
    unavailable: "Policies and holds could not be read or changed",
  });

const nullable = (schema: Parameters<typeof Type.Union>[0][number]) => Type.Union([schema, Type.Null()]);

const Reason = Type.Object({
  code: Type.Union(
    (["law", "tier_default", "policy_minimum", "policy_maximum", "no_maximum", "hold"] as const).map((code) =>
      Type.Literal(code),
    ),
  ),
  text: Type.String(),
  clause: nullable(Type.String({ description: "The article, where a law is the reason." })),
});

const PolicyView = dataOf(
  Type.Object({
    tenant: PolicyRecord.properties.tenant,
    policy: PolicyRecord.properties.policy,
    updated_at: nullable(Type.String({ format: "date-time" })),
    updated_by: nullable(Type.String()),
    ages: Type.Array(
      Type.Object({
        risk_tier: Type.Union(RETENTION_TIERS.map((tier) => Type.Literal(tier))),
        legal_basis: nullable(
          Type.String({
            description: "The basis of the event that asks for the longest time; null for none.",
          }),
        ),
        days: nullable(
          Type.Integer({
            description: "Counted from the later of `timestamp` and `received_at`; null: kept.",
          }),
        ),
        reason: Reason,
      }),
      { description: "What the policy comes to, for each tier and law." },
    ),
    floors: Type.Array(
      Type.Object({
        legal_basis: nullable(Type.String({ description: "Null: for every event." })),
        minimum_days: Type.Integer(),
        clause: Type.String(),
      }),
      { description: "What no policy goes below." },
    ),
  }),
);

const HOLD_COLUMNS = Object.keys(HoldRecord.properties);

const EXAMPLE_POLICY = {
  tenant: "acme",
  record: {
    tenant: "acme",
    policy: { maximum_days: 400, tiers: { low: { maximum_days: 184 } } },
    updated_at: "2026-11-20T10:00:00.000Z",
    updated_by: "admin",
  },
};
const EXAMPLE_HOLD = {
  id: "019dd0a2-5f5e-7b1c-8b7e-2f1f0f6b9a11",
  tenant: "acme",
  asset_id: "credit_model",
  reason: "Complaint 2026-114, until the court has decided.",
  created_at: "2026-11-20T10:00:00.000Z",
  created_by: "admin",
};
const TENANT = tenantParameter("Whose. Any but the admin key may only name its own.");
const WHAT_GOES =
  "Only rows of the views expire: what the log holds stays as it is, forever. `GET /v1/events/{event_id}` then answers 410, and says where in the log the record stands.";
const policyAnswer = {
  status: 200,
  description: "The policy, and what it comes to.",
  schema: PolicyView,
  example: { data: policyEntry(EXAMPLE_POLICY), request_id: EXAMPLE_REQUEST_ID },
};

const READ: Operation = {
  id: "readRetention",
  tag: "Retention",
  summary: "How long events are kept",
  description: `The tenant's policy, and the ages that follow from it with their reasons. ${WHAT_GOES}`,
  access: MANAGING,
  parameters: [TENANT],
  answer: policyAnswer,
  problems: ["invalid_request", "log_unavailable"],
};

const SET: Operation = {
  id: "setRetention",
  tag: "Retention",
  summary: "Say how long events are kept",
  description: `Replaces the earlier policy. Without \`maximum_days\` nothing expires. A maximum below what the law asks of every event is refused; an event whose own legal bases ask for longer is kept longer whatever the policy says. A tier that is not named under \`tiers\` is kept at least as long as its default. ${WHAT_GOES}`,
  access: MANAGING,
  body: { schema: PolicyRequest, example: { tenant: "acme", ...EXAMPLE_POLICY.record.policy } },
  answer: policyAnswer,
  problems: ["changed_meanwhile", "log_behind", "log_unavailable", "overloaded"],
};

const HOLD: Operation = {
  id: "placeHold",
  tag: "Retention",
  summary: "Place a hold",
  description: `Nothing of the asset or the case expires until the hold is released, however old it is. It does not bring back what has expired before, unless the views start from nothing again. A tenant has at most ${HOLDS_PER_TENANT_MAX} that are not released.`,
  access: MANAGING,
  body: {
    schema: HoldRequest,
    example: { tenant: "acme", asset_id: "credit_model", reason: EXAMPLE_HOLD.reason },
  },
  answer: {
    status: 201,
    description: "The hold.",
    schema: dataOf(HoldRecord),
    example: { data: EXAMPLE_HOLD, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["log_behind", "log_unavailable"],
};

const LIST: Operation = {
  id: "listHolds",
  tag: "Retention",
  summary: "List holds",
  description: "Oldest first, released ones included. The admin key sees every tenant's.",
  access: MANAGING,
  parameters: [TENANT, ...timeRangeParameters("What counts is `created_at`."), ...KEPT_PARAMETERS],
  answer: {
    status: 200,
    description: "One page.",
    schema: listOf(HoldRecord),
    example: { data: [EXAMPLE_HOLD], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
    others: fileForms(HOLD_COLUMNS, EXAMPLE_HOLD),
  },
  problems: ["invalid_request", "overloaded", "log_unavailable"],
};

const RELEASE: Operation = {
  id: "releaseHold",
  tag: "Retention",
  summary: "Release a hold",
  description:
    "What it kept may expire from now on, unless another hold keeps it. The hold stays listed. Releasing a released hold changes nothing.",
  access: MANAGING,
  parameters: [pathParameter("id", EXAMPLE_HOLD.id)],
  answer: {
    status: 200,
    description: "The released hold.",
    schema: dataOf(HoldRecord),
    example: {
      data: { ...EXAMPLE_HOLD, released_at: "2027-02-01T09:00:00.000Z", released_by: "admin" },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: [
    "invalid_request",
    "not_found",
    "changed_meanwhile",
    "log_behind",
    "log_unavailable",
    "overloaded",
  ],
};

const RELEASE_WITH_REASON: Operation = {
  ...RELEASE,
  id: "releaseHoldWithReason",
  summary: "Release a hold, and say why",
  description: "As `DELETE /v1/holds/{id}`; the reason stays with the hold.",
  body: { schema: ReleaseRequest, example: { reason: "The court has decided." } },
};
