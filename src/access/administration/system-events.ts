/**
 * Every event that Prooftrail itself writes, to the log of SYSTEM_TENANT: its type, and its `metadata`. They are
 * ordinary events, and no customer can send one: no vocabulary has their types. Never a secret; of customers' data only identifiers and the
 * filters of their requests.
 */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { oneOf } from "../../event/check.ts";
import { KeyView } from "../key-record.ts";
import { HoldRecord, RetentionPolicy } from "../retention/records.ts";
import { TenantSchema } from "../tenant.ts";

/** One sentence for the documentation, and the event's contents besides who, when and in which tenant. */
interface SystemEventKind {
  readonly summary: string;
  readonly details: TObject;
}

const { id: key_id, scopes, role, covers, expires_at, rate_limit } = KeyView.properties;
/** Not the person: the log never forgets, and the key list says whose the key is. */
const rights = { scopes, role, covers, expires_at, rate_limit };

/** Not a hold's reason, free text about a customer's case, which stays in the bucket. */
const { id: hold_id, asset_id, correlation_id } = HoldRecord.properties;
const Hold = Type.Object({ hold_id, asset_id, correlation_id });

const filters = (description: string) =>
  Type.Record(Type.String(), Type.Array(Type.String()), { description });

const Waiving = Type.Object({
  obligation_id: Type.String({ description: "The obligation of the tenant." }),
  reason: Type.String({ description: "The reason as given." }),
  case_name: Type.String({
    description: "Kind and value of the name that the obligation's starting event refers to.",
  }),
});

export const ACTIONS = {
  "system.key_created": { summary: "A key was created.", details: Type.Object({ key_id, ...rights }) },
  "system.key_revoked": { summary: "A key was revoked.", details: Type.Object({ key_id }) },
  "system.key_rotated": {
    summary: "A key got a successor with the same rights and works until `grace_until`.",
    details: Type.Object({
      key_id,
      replaced_by: key_id,
      ...rights,
      grace_until: Type.String({ description: "When the replaced key ends." }),
    }),
  },
  "system.retention_changed": {
    summary: "A policy was set: all of it, as it now applies.",
    details: Type.Object({ policy: RetentionPolicy }),
  },
  "system.hold_placed": { summary: "A hold was placed.", details: Hold },
  "system.hold_released": { summary: "A hold was released.", details: Hold },
  "system.export_taken": {
    summary: "An export began. It may not have been read to the end.",
    details: Type.Object({
      list: Type.Optional(
        Type.String({ description: "Which list, such as `decisions`; absent for events and bundles." }),
      ),
      format: oneOf(["ndjson", "csv", "evidence"]),
      filters: filters("The parameters that chose its content, as requested; empty for all."),
      last_sequence: Type.Optional(
        Type.Integer({
          description:
            "The last sequence of the log that the export covers; absent for lists not built from the log.",
        }),
      ),
    }),
  },
  "system.evidence_made": {
    summary:
      "An evidence bundle was created. Its manifest is anchored here: the bundle proves that this event is in the log.",
    details: Type.Object({
      manifest_sha256: Type.String({ description: "SHA-256 of the file manifest.json, in hex." }),
      records: Type.Integer({ description: "Records in the bundle." }),
      filter: Type.Record(Type.String(), Type.String(), {
        description: "The parameters that chose them; empty for all.",
      }),
    }),
  },
  "system.session_started": {
    summary: "Somebody signed in to the console, with a key or with the seat that a provider opened.",
    details: Type.Object({
      key_id: KeyView.properties.created_by,
      issuer: Type.Optional(Type.String({ description: "The provider; absent for a sign-in with a key." })),
    }),
  },
  "system.viewed": {
    summary:
      "An auditor's seat opened something. Once for each query and session; files and bundles have their own events.",
    details: Type.Object({
      route: Type.String({ description: "The route, such as `/v1/decisions/:decision_id`." }),
      path: Type.String({ description: "The path with its ids." }),
      filters: filters("The parameters that chose what was shown, as requested; empty for all."),
    }),
  },
  "system.restored": {
    summary:
      "A log that lost its end, for example because an older copy was restored, was accepted as is. Later heads state it in a line of their own.",
    details: Type.Object({
      reason: Type.String(),
      known_sequence: Type.Integer({ description: "The last record that known heads covered." }),
      restored_sequence: Type.Integer({ description: "The last record of the log as it was restored." }),
      heads_given_up: Type.Integer({ description: "Tenants whose last known head the log does not extend." }),
      heads: Type.Array(
        Type.Object({
          tenant: TenantSchema,
          size: Type.Integer(),
          root: Type.String(),
          restored_size: Type.Integer(),
        }),
        { description: "The first of them: size and root of the head, and the size of the log now." },
      ),
      known_heads_sha256: Type.String({
        description: "SHA-256 of the file `given-up-….json` in HEADS_COPY, in hex: all heads as known.",
      }),
    }),
  },
  "system.obligation_waived": {
    summary: "An obligation was waived, with the reason why it will not be met.",
    details: Waiving,
  },
  "system.obligation_unwaived": {
    summary: "The waiver of an obligation was withdrawn.",
    details: Waiving,
  },
} as const satisfies Readonly<Record<string, SystemEventKind>>;

export const SYSTEM_EVENTS = {
  ...ACTIONS,
  "system.action_failed": {
    summary: "The action of another event with the same `correlation_id` failed, or its result is unknown.",
    details: Type.Object({
      failed_event_id: Type.String({ description: "The event of that action." }),
      failed_event_type: Type.String(),
      effect: oneOf(["none", "unknown"], {
        description: "`none`: nothing changed. `unknown`: no answer came; it may have changed.",
      }),
    }),
  },
} as const;

type EventOf<Type extends keyof typeof SYSTEM_EVENTS> = {
  readonly [Each in Type]: {
    readonly type: Each;
    /** The tenant of the key, policy, hold or events. */
    readonly tenant: string;
    readonly details: Static<(typeof SYSTEM_EVENTS)[Each]["details"]>;
  };
}[Type];

export type SystemEvent = EventOf<keyof typeof SYSTEM_EVENTS>;
export type Action = EventOf<keyof typeof ACTIONS>;
export type KeyAction = EventOf<"system.key_created" | "system.key_revoked" | "system.key_rotated">;
export type RetentionAction = EventOf<
  "system.retention_changed" | "system.hold_placed" | "system.hold_released"
>;
export type ExportAction = EventOf<"system.export_taken">;
export type EvidenceAction = EventOf<"system.evidence_made">;
export type SessionAction = EventOf<"system.session_started">;
export type ViewAction = EventOf<"system.viewed">;
export type WaiverAction = EventOf<"system.obligation_waived" | "system.obligation_unwaived">;

const namesOf = (members: object): string =>
  Object.keys(members)
    .map((name) => `\`${name}\``)
    .join(", ");

export const SYSTEM_EVENTS_TEXT = [
  "The `metadata` of each holds `tenant`, `actor`, `request_id`, and:\n",
  ...Object.entries<SystemEventKind>(SYSTEM_EVENTS).map(
    ([type, { summary, details }]) => `- \`${type}\`: ${summary} ${namesOf(details.properties)}.`,
  ),
].join("\n");
