/**
 * The stored record of an API key, its public view, and the requests about keys. Times are RFC 3339 in UTC with milliseconds. No TypeBox
 * formats: without Elysia's registry they are all false.
 */
import { type Static, Type } from "@sinclair/typebox";
import { createCheck } from "../event/check.ts";
import {
  KEY_GRACE_SECONDS_DEFAULT,
  KEY_GRACE_SECONDS_MAX,
  KEY_NAME_CHARACTERS_MAX,
  KEY_RATE_PER_SECOND_MAX,
} from "../limits.ts";
import { API_KEY_ID_PATTERN } from "./api-key.ts";
import { SCOPES, ScopeSchema } from "./scopes.ts";
import { Covers, Person, RoleSchema } from "./seats.ts";
import { TenantSchema } from "./tenant.ts";
import { UTC_TIME } from "./utc-time.ts";

/** Stands for the admin key where a key id is named. Shorter than any real id. */
export const ADMIN_KEY_ID = "admin";
/** Stands for the sign-in provider as the creator of a key. */
export const PROVIDER_ID = "oidc";

const KeyId = Type.String({ pattern: API_KEY_ID_PATTERN, description: "Public id of the key." });
export const Instant = (description: string) =>
  Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$", description });
const SecretHash = Type.String({ pattern: "^[0-9A-Za-z_-]{43}$" });

const Rate = Type.Integer({ minimum: 1, maximum: KEY_RATE_PER_SECOND_MAX });
const rateLimit = (leftOut: string) =>
  Type.Object(
    { requests_per_second: Type.Optional(Rate), events_per_second: Type.Optional(Rate) },
    {
      additionalProperties: false,
      description: `Limits of this key. Its successors and the keys that it creates share them. What is omitted is ${leftOut}. Events are counted over a window that fits a batch of 1000: at 5 per second such a batch passes about every 200 s.`,
    },
  );

export const KeyName = Type.String({
  minLength: 1,
  maxLength: KEY_NAME_CHARACTERS_MAX,
  // U+0000 to U+001F and U+007F to U+009F: a name is printed in lists and terminals.
  pattern: "^[^\\u0000-\\u001F\\u007F-\\u009F]*$",
  description: "For people: what uses the key.",
  "x-expects": `a text of 1 to ${KEY_NAME_CHARACTERS_MAX} characters without control characters`,
});
const Scopes = Type.Array(ScopeSchema, {
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
  description: "What the key may do.",
});

export const BoundFilter = Type.Record(Type.String(), Type.String(), {
  description: "Its filter: the list's filters, by name.",
  "x-expects": 'an object of texts, such as {"asset_id": "credit_model"}',
});
export type BoundFilter = Static<typeof BoundFilter>;

const visible = {
  id: KeyId,
  tenant: TenantSchema,
  name: Type.Optional(KeyName),
  scopes: Scopes,
  role: Type.Optional(RoleSchema),
  person: Type.Optional(Person),
  covers: Type.Optional(Covers),
  created_at: Instant("When the key was created."),
  created_by: Type.Union([KeyId, Type.Literal(ADMIN_KEY_ID), Type.Literal(PROVIDER_ID)], {
    description:
      "Id of the key that created it, `admin`, or `oidc` for a seat from the first sign-in with a provider.",
  }),
  expires_at: Type.Optional(Instant("The key is refused from this time on.")),
  revoked_at: Type.Optional(Instant("When the key was revoked.")),
  rate_limit: Type.Optional(rateLimit("not limited")),
  replaced_by: Type.Optional(KeyId),
  grace_until: Type.Optional(Instant("A rotated key works until this time.")),
  calendar_filter: Type.Optional(BoundFilter),
};

export const KeyView = Type.Object(visible);
export type KeyView = Static<typeof KeyView>;

/** The answer to a creation, the only one that shows the whole key. */
export const NewKeyView = Type.Object({
  ...visible,
  api_key: Type.String({ description: "The key to send as `Authorization: Bearer`. Shown only now." }),
});
export type NewKeyView = Static<typeof NewKeyView>;

/** What the key bucket holds. Members that a newer version added are kept: an update writes them back. */
export const ApiKeyRecord = Type.Object({
  ...visible,
  secret_hash: SecretHash,
  /** The key that it succeeds, whose limits it shares. Keys that version 0.1.0 rotated have none. */
  rotated_from: Type.Optional(KeyId),
});
export type ApiKeyRecord = Static<typeof ApiKeyRecord>;

/** The hash covers the whole text, because an operator may choose any. */
export const AdminKeyRecord = Type.Object({
  secret_hash: SecretHash,
  created_at: Instant("When it was set."),
});
export type AdminKeyRecord = Static<typeof AdminKeyRecord>;

export const EXPIRY_EXPECTED = "a time in the future, as RFC 3339 in UTC, for example 2027-01-01T00:00:00Z";

export const CreateKeyRequest = Type.Object(
  {
    tenant: Type.Optional(TenantSchema),
    scopes: Type.Optional(Scopes),
    role: Type.Optional(RoleSchema),
    person: Type.Optional(Person),
    covers: Type.Optional(Covers),
    name: Type.Optional(KeyName),
    expires_at: Type.Optional(
      Type.String({
        pattern: UTC_TIME.source,
        description: "RFC 3339 in UTC. Absent: as long as the managing key, or without end.",
        "x-expects": EXPIRY_EXPECTED,
        examples: ["2027-01-01T00:00:00Z"],
      }),
    ),
    rate_limit: Type.Optional(rateLimit("as of the managing key, or not limited")),
  },
  { additionalProperties: false },
);
export type CreateKeyRequest = Static<typeof CreateKeyRequest>;

export const RotateKeyRequest = Type.Object(
  {
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: KEY_GRACE_SECONDS_MAX,
        default: KEY_GRACE_SECONDS_DEFAULT,
        description: "How long the old key still works.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type RotateKeyRequest = Static<typeof RotateKeyRequest>;

const apiKeyRecords = createCheck(ApiKeyRecord);
const adminKeyRecords = createCheck(AdminKeyRecord);

/** A value of the bucket as a key. Undefined if foreign: such a value must neither crash nor open anything. */
export const asApiKeyRecord = (value: unknown, id: string): ApiKeyRecord | undefined =>
  apiKeyRecords.accepts(value) && value.id === id ? value : undefined;

export const asAdminKeyRecord = (value: unknown): AdminKeyRecord | undefined =>
  adminKeyRecords.accepts(value) ? value : undefined;

/** Only declared members, so that nothing added to the record is shown by accident. */
export const viewOf = (record: ApiKeyRecord): KeyView => {
  const view: KeyView = { ...record };
  for (const name of Object.keys(view)) if (!Object.hasOwn(visible, name)) Reflect.deleteProperty(view, name);
  return view;
};

/** Oldest first, then by id, for lists kept whole in memory: neither ever changes, so a page neither shifts nor repeats. */
export interface Placed {
  /** Spelt alike everywhere, so that times compare as text. */
  readonly created_at: string;
  readonly id: string;
}

export const placeOf = ({ created_at, id }: Placed): string => `${created_at} ${id}`;

export const byPlace = (one: Placed, other: Placed): number => (placeOf(one) < placeOf(other) ? -1 : 1);
