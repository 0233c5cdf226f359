/** Seats: API keys with a role. The role gives the scopes, and an auditor's seat may cover only some systems and a range of time. */
import { type Static, Type } from "@sinclair/typebox";
import { oneOf } from "../event/check.ts";
import { IDENTIFIER_CHARACTERS_MAX } from "../limits.ts";
import { SCOPES, type Scope } from "./scopes.ts";
import { UTC_TIME } from "./utc-time.ts";

/** What each role is for, in one sentence. */
export const ROLE_OPENS = {
  admin: "Everything in the tenant: keys and people, retention and holds, and all that the others may.",
  officer: "Reads everything, sends events, waives obligations, makes bundles.",
  auditor:
    "Reads what its seat covers: the tenant, some of its systems, or a time range. What it opens is recorded.",
  developer: "Sends and reads events, and sees their sources and proofs; no registers and no evidence.",
} as const;

export type Role = keyof typeof ROLE_OPENS;

const isRole = (text: string): text is Role => Object.hasOwn(ROLE_OPENS, text);

export const ROLES: readonly Role[] = Object.keys(ROLE_OPENS).filter(isRole);

export const RoleSchema = oneOf(ROLES, {
  description: "The role of the key's person or program. It gives the key its scopes.",
});

export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  admin: SCOPES,
  officer: ["events:write", "events:read", "obligations:waive"],
  auditor: ["events:read"],
  developer: ["events:write", "events:read"],
};

/** An e-mail address has at most 254. */
const PERSON_CHARACTERS_MAX = 320;
/** Each list is queried for all of them at once. */
const ASSETS_MAX = 16;

export const Person = Type.String({
  minLength: 1,
  maxLength: PERSON_CHARACTERS_MAX,
  pattern: "^[^\\u0000-\\u001F\\u007F-\\u009F]*$",
  description: "Whom the key is for: an e-mail address, or the subject that a sign-in provider gives.",
  "x-expects": `a text of 1 to ${PERSON_CHARACTERS_MAX} characters without control characters`,
});

const CoveredTime = (description: string) =>
  Type.String({
    pattern: UTC_TIME.source,
    description,
    "x-expects": "a time as RFC 3339 in UTC, for example 2026-10-01T00:00:00Z",
    examples: ["2026-10-01T00:00:00Z"],
  });

export const Covers = Type.Object(
  {
    asset_ids: Type.Optional(
      Type.Array(
        Type.String({
          minLength: 1,
          maxLength: IDENTIFIER_CHARACTERS_MAX,
          description: "An `asset_id`.",
          "x-expects": `a text of 1 to ${IDENTIFIER_CHARACTERS_MAX} characters`,
        }),
        { minItems: 1, maxItems: ASSETS_MAX, uniqueItems: true, description: "Only these systems." },
      ),
    ),
    from: Type.Optional(CoveredTime("Only what happened at this time or later.")),
    to: Type.Optional(CoveredTime("Only what happened before this time.")),
  },
  {
    additionalProperties: false,
    description: "What an auditor's seat covers. Absent: the whole tenant.",
  },
);
export type Covers = Static<typeof Covers>;
