/** Stored records and requests of retention. Times are RFC 3339 in UTC with milliseconds. */
import { type Static, Type } from "@sinclair/typebox";
import { createCheck } from "../../event/check.ts";
import { reasonText } from "../../event/request/reason.ts";
import { HOLD_REASON_CHARACTERS_MAX, IDENTIFIER_CHARACTERS_MAX, RETENTION_DAYS_MAX } from "../../limits.ts";
import type { ActionResult } from "../action.ts";
import { API_KEY_ID_PATTERN } from "../api-key.ts";
import { ADMIN_KEY_ID, Instant } from "../key-record.ts";
import { TenantSchema } from "../tenant.ts";

const KeyId = Type.Union([Type.String({ pattern: API_KEY_ID_PATTERN }), Type.Literal(ADMIN_KEY_ID)], {
  description: "Id of the key, or `admin`.",
});

const Days = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: RETENTION_DAYS_MAX, description }));
const TierPolicy = Type.Optional(
  Type.Object(
    {
      maximum_days: Days("Overrides the general one and the tier's default age."),
      minimum_days: Days("Overrides the general one."),
    },
    { additionalProperties: false },
  ),
);

const policyMembers = {
  maximum_days: Days(
    "Age at which events expire, unless a law, their tier or a hold keeps them longer. Absent: nothing expires.",
  ),
  minimum_days: Days("Raises the legal minimum."),
  tiers: Type.Optional(
    Type.Object(
      { low: TierPolicy, limited: TierPolicy, high: TierPolicy, prohibited: TierPolicy, unknown: TierPolicy },
      { additionalProperties: false, description: "By risk tier; `unknown` for events without one." },
    ),
  ),
};

export const RetentionPolicy = Type.Object(policyMembers);
export type RetentionPolicy = Static<typeof RetentionPolicy>;

export const PolicyRequest = Type.Object(
  { tenant: Type.Optional(TenantSchema), ...policyMembers },
  { additionalProperties: false },
);
export type PolicyRequest = Static<typeof PolicyRequest>;

export const PolicyRecord = Type.Object({
  tenant: TenantSchema,
  policy: RetentionPolicy,
  updated_at: Instant("When the policy was set."),
  updated_by: KeyId,
});
export type PolicyRecord = Static<typeof PolicyRecord>;

/** An event's asset_id never contains half a surrogate pair; its correlation_id may. */
export const ASSET_ID_EXPECTED = `a text of 1 to ${IDENTIFIER_CHARACTERS_MAX} Unicode characters`;
const IDENTIFIER_EXPECTED = `a text of 1 to ${IDENTIFIER_CHARACTERS_MAX} characters`;
const AssetId = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_CHARACTERS_MAX,
  description: "Everything of this asset.",
  "x-expects": ASSET_ID_EXPECTED,
});
const CorrelationId = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_CHARACTERS_MAX,
  description: "Everything of this case, as in `GET /v1/cases/{correlation_id}`.",
  "x-expects": IDENTIFIER_EXPECTED,
});
const HOLD_REASON = {
  maxLength: HOLD_REASON_CHARACTERS_MAX,
  description: "For people: why nothing may expire.",
};

export const HoldRequest = Type.Object(
  {
    tenant: Type.Optional(TenantSchema),
    asset_id: Type.Optional(AssetId),
    correlation_id: Type.Optional(CorrelationId),
    reason: reasonText(HOLD_REASON),
  },
  {
    additionalProperties: false,
    description: "One of asset_id and correlation_id.",
  },
);
export type HoldRequest = Static<typeof HoldRequest>;

export const ReleaseRequest = Type.Object(
  { reason: reasonText({ ...HOLD_REASON, description: "For people: why the hold is no longer needed." }) },
  { additionalProperties: false },
);
export type ReleaseRequest = Static<typeof ReleaseRequest>;

export const HoldRecord = Type.Object({
  id: Type.String({ pattern: "^[0-9a-f-]{36}$", description: "Id of the hold." }),
  tenant: TenantSchema,
  asset_id: Type.Optional(AssetId),
  correlation_id: Type.Optional(CorrelationId),
  /** Earlier versions allowed any text: such holds must not be lost. */
  reason: Type.String({ description: HOLD_REASON.description }),
  created_at: Instant("When the hold was placed."),
  created_by: KeyId,
  released_at: Type.Optional(Instant("When it was released. Absent: active.")),
  released_by: Type.Optional(KeyId),
  released_reason: Type.Optional(Type.String({ description: "Why it was released." })),
});
export type HoldRecord = Static<typeof HoldRecord>;

const policyRecords = createCheck(PolicyRecord);
const holdRecords = createCheck(HoldRecord);

/** A value of the bucket; undefined if foreign. */
export const asPolicyRecord = (value: unknown, tenant: string): PolicyRecord | undefined =>
  policyRecords.accepts(value) && value.tenant === tenant ? value : undefined;

export const asHoldRecord = (value: unknown, tenant: string, id: string): HoldRecord | undefined =>
  holdRecords.accepts(value) && value.tenant === tenant && value.id === id ? value : undefined;

export interface RetentionStore {
  /** What is stored at this moment, so that a hold counts at once. Throws LogUnavailableError. */
  read(): Promise<StoredRetention>;
  /** Writes only if the stored revision is still this one; 0 for none. */
  putPolicy(record: PolicyRecord, revision: number): Promise<ActionResult>;
  createHold(record: HoldRecord): Promise<ActionResult>;
  /** Writes only if the stored revision is still this one. */
  updateHold(record: HoldRecord, revision: number): Promise<ActionResult>;
}

export interface StoredRetention {
  readonly policies: readonly PolicyRecord[];
  /** Revision of each tenant's policy, even of a foreign value, which is not in `policies`. */
  readonly policyRevisions: ReadonlyMap<string, number>;
  /** Holds of all tenants, released ones included, in no particular order. */
  readonly holds: readonly { readonly record: HoldRecord; readonly revision: number }[];
}
