/**
 * Every event that Prooftrail writes itself, to the log of the tenant SYSTEM_TENANT: its type, and what stands in its `metadata`. They are
 * ordinary events, and no customer can send one: no vocabulary has their types.
 */
import { type TObject, Type } from "@sinclair/typebox";
import type { ActionKind, ActionOf } from "../action.ts";
import { KeyView } from "../key-record.ts";
import { KEY_ACTIONS } from "../keys.ts";
import { RETENTION_ACTIONS } from "../retention/retention-actions.ts";
import { TenantSchema } from "../tenant.ts";

const EXPORT_ACTIONS = {
  "system.export_taken": {
    summary: "An export began. Whether its reader took it to the end is not said.",
    details: Type.Object({
      list: Type.Optional(
        Type.String({ description: "Which list, such as `decisions`; absent for events and bundles." }),
      ),
      format: Type.Union([Type.Literal("ndjson"), Type.Literal("csv"), Type.Literal("evidence")]),
      filters: Type.Record(Type.String(), Type.Array(Type.String()), {
        description: "The parameters that chose what is in it, as they were asked; empty for all.",
      }),
      last_sequence: Type.Optional(
        Type.Integer({
          description:
            "Up to which sequence of the log the export goes; absent for lists that are not made from the log.",
        }),
      ),
    }),
  },
} as const satisfies Readonly<Record<string, ActionKind>>;

export type ExportAction = ActionOf<typeof EXPORT_ACTIONS>;

const EVIDENCE_ACTIONS = {
  "system.evidence_made": {
    summary:
      "An evidence bundle was made. Its manifest is anchored here: the bundle holds the proof that this event is in the log.",
    details: Type.Object({
      manifest_sha256: Type.String({ description: "SHA-256 of the file manifest.json, in hex." }),
      records: Type.Integer({ description: "Records in the bundle." }),
      filter: Type.Record(Type.String(), Type.String(), {
        description: "The parameters that chose them; empty for all.",
      }),
    }),
  },
} as const satisfies Readonly<Record<string, ActionKind>>;

export type EvidenceAction = ActionOf<typeof EVIDENCE_ACTIONS>;

const SESSION_ACTIONS = {
  "system.session_started": {
    summary: "Somebody signed in to the console, with a key or with the seat that a provider opened.",
    details: Type.Object({
      key_id: KeyView.properties.created_by,
      issuer: Type.Optional(Type.String({ description: "The provider; absent for a sign-in with a key." })),
    }),
  },
} as const satisfies Readonly<Record<string, ActionKind>>;

export type SessionAction = ActionOf<typeof SESSION_ACTIONS>;

const VIEW_ACTIONS = {
  "system.viewed": {
    summary:
      "The seat of an auditor opened something. Once for each question and session; files and bundles have events of their own.",
    details: Type.Object({
      route: Type.String({ description: "The route, such as `/v1/decisions/:decision_id`." }),
      path: Type.String({ description: "The path with its ids." }),
      filters: Type.Record(Type.String(), Type.Array(Type.String()), {
        description: "The parameters that chose what was shown, as they were asked; empty for all.",
      }),
    }),
  },
} as const satisfies Readonly<Record<string, ActionKind>>;

export type ViewAction = ActionOf<typeof VIEW_ACTIONS>;

const RESTORE_ACTIONS = {
  "system.restored": {
    summary:
      "A log that lost its end, for example because an older copy was put back, was accepted as it is. Later heads say so in a line of their own.",
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
        description:
          "SHA-256 of the file `given-up-….json` in HEADS_COPY, in hex: all heads as they were known.",
      }),
    }),
  },
} as const satisfies Readonly<Record<string, ActionKind>>;

const Waiving = Type.Object({
  obligation_id: Type.String({ description: "The obligation of the tenant." }),
  reason: Type.String({ description: "Why, as it was given." }),
  case_name: Type.String({
    description: "Kind and value of the name to which the event refers that started the obligation.",
  }),
});

const WAIVER_ACTIONS = {
  "system.obligation_waived": {
    summary: "An obligation was waived: somebody said why it will not be met.",
    details: Waiving,
  },
  "system.obligation_unwaived": {
    summary: "The waiver of an obligation was taken back.",
    details: Waiving,
  },
} as const satisfies Readonly<Record<string, ActionKind>>;

export type WaiverAction = ActionOf<typeof WAIVER_ACTIONS>;

/** Events of actions that somebody carries out. */
export const ACTIONS = {
  ...KEY_ACTIONS,
  ...RETENTION_ACTIONS,
  ...EXPORT_ACTIONS,
  ...EVIDENCE_ACTIONS,
  ...SESSION_ACTIONS,
  ...VIEW_ACTIONS,
  ...RESTORE_ACTIONS,
  ...WAIVER_ACTIONS,
} as const;

export type Action = ActionOf<typeof ACTIONS>;

const FAILURES = {
  "system.action_failed": {
    summary:
      "The action of another event with the same `correlation_id` was not carried out, or nobody knows.",
    details: Type.Object({
      failed_event_id: Type.String({ description: "The event of that action." }),
      failed_event_type: Type.String(),
      effect: Type.Union([Type.Literal("none"), Type.Literal("unknown")], {
        description: "`none`: nothing was changed. `unknown`: no answer came, it may have been.",
      }),
    }),
  },
} as const satisfies Readonly<Record<string, ActionKind>>;

export const SYSTEM_EVENTS = { ...ACTIONS, ...FAILURES } as const;

export type SystemEvent = ActionOf<typeof SYSTEM_EVENTS>;

/** Members that the `metadata` of every system event has. */
const COMMON_METADATA = {
  tenant: TenantSchema,
  actor: KeyView.properties.created_by,
  request_id: Type.String({ description: "UUIDv7 of the request; also the event's `correlation_id`." }),
} as const;

export const metadataSchema = (details: TObject): TObject =>
  Type.Object({ ...COMMON_METADATA, ...details.properties }, { additionalProperties: false });

const namesOf = (members: object): string =>
  Object.keys(members)
    .map((name) => `\`${name}\``)
    .join(", ");

/** Markdown for the API documentation. */
export const SYSTEM_EVENTS_TEXT = [
  `The \`metadata\` of each holds ${namesOf(COMMON_METADATA)}, and:\n`,
  ...Object.entries<ActionKind>(SYSTEM_EVENTS).map(
    ([type, { summary, details }]) => `- \`${type}\`: ${summary} ${namesOf(details.properties)}.`,
  ),
].join("\n");
