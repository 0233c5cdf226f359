/** Query parameters that choose events, and their words in the documentation: one set for lists, streams and exports. */
import { RISK_TIERS } from "../event/audit-event.ts";
import { canonicalTraceId, isSha256, isUtcTimestamp } from "../event/formats.ts";
import { readSearchText } from "../event/search-text.ts";
import { SEARCH_CHARACTERS_MAX, SEARCH_PREFIX_CHARACTERS_MIN, SEARCH_WORDS_MAX } from "../limits.ts";
import type { EventConditions } from "../projections/events/queries.ts";
import type { Parameter } from "./openapi.ts";
import type { Query } from "./query.ts";
import { parameter } from "./reading.ts";

const GROUP = /^[a-z][a-z0-9_]*\.\*$/;

/** The few that a live stream takes. */
export const readStreamFilter = (query: Query): EventConditions => ({
  ...readKindFilter(query),
  assetId: query.text("asset_id"),
});

const readKindFilter = (query: Query): EventConditions => {
  const type = query.text("event_type");
  const isGroup = type !== undefined && GROUP.test(type);
  return {
    eventType: isGroup ? undefined : type,
    eventGroup: isGroup ? type.slice(0, -2) : undefined,
    riskTier: query.checked(
      "risk_tier",
      (tier) => RISK_TIERS.some((known) => known === tier),
      `one of ${RISK_TIERS.join(", ")}`,
    ),
    timeField: "timestamp",
  };
};

export const readEventFilter = (query: Query): EventConditions => ({
  ...readTimelineFilter(query),
  assetId: query.text("asset_id"),
});

/** All but the asset, which the path names. */
export const readTimelineFilter = (query: Query): EventConditions => {
  const time = (name: string): string | undefined =>
    query.checked(name, isUtcTimestamp, "a time as RFC 3339 in UTC, for example 2026-11-20T10:00:00Z");
  return {
    ...readKindFilter(query),
    legalBasis: query.text("legal_basis"),
    correlationId: query.text("correlation_id"),
    subjectHash: query.checked(
      "subject_hash",
      isSha256,
      'a hash written as "sha256:" and 64 hexadecimal digits',
    ),
    traceId: canonical(query.text("trace_id")),
    tags: query.prefixed("tag."),
    text: query.read("q", readSearchText),
    from: time("from"),
    to: time("to"),
    timeField: query.choice("time_field", ["timestamp", "received_at"], "timestamp"),
  };
};

const canonical = (traceId: string | undefined): string | undefined =>
  traceId === undefined ? undefined : canonicalTraceId(traceId);

const ASSET = parameter("asset_id", "Exactly this asset.");

const KIND_PARAMETERS: readonly Parameter[] = [
  parameter(
    "event_type",
    "Exactly this type, or a group: `decision.*`. The six legacy types are the group `legacy.*`.",
  ),
  parameter("risk_tier", "Exactly this tier.", { type: "string", enum: [...RISK_TIERS] }),
];

export const STREAM_FILTER_PARAMETERS: readonly Parameter[] = [ASSET, ...KIND_PARAMETERS];

const TEXT = parameter(
  "q",
  [
    `Words, separated by white space, at most ${SEARCH_WORDS_MAX}: events in which all of them occur, in asset, type, correlation, tags or the`,
    "values of the metadata. Upper and lower case are the same. An identifier is found whole, `dec_42`, and by its parts, `dec` or `42`.",
    `\`credit*\` finds every word that begins so, from ${SEARCH_PREFIX_CHARACTERS_MIN} characters. Phrases in quotation marks are refused.`,
  ].join(" "),
  { type: "string", minLength: 1, maxLength: SEARCH_CHARACTERS_MAX },
);

export const TIMELINE_FILTER_PARAMETERS: readonly Parameter[] = [
  TEXT,
  ...KIND_PARAMETERS,
  parameter(
    "legal_basis",
    "Events that name this basis, also inside `metadata.legal_bases` where the event has none of its own.",
  ),
  parameter("correlation_id", "Exactly this group of events."),
  parameter(
    "subject_hash",
    "The person concerned; also found in `metadata.user_id_hash` and `metadata.recipient_hash`.",
  ),
  parameter("trace_id", "Exactly this trace; one of W3C Trace Context in either case."),
  parameter("tag.<key>", "Events with this tag: `tag.team=credit`. May be given for several keys."),
  parameter("from", "At or after this time, RFC 3339 in UTC.", { type: "string", format: "date-time" }),
  parameter("to", "Before this time, RFC 3339 in UTC.", { type: "string", format: "date-time" }),
  parameter("time_field", "What `from` and `to` speak of.", {
    type: "string",
    enum: ["timestamp", "received_at"],
    default: "timestamp",
  }),
];

export const EVENT_FILTER_PARAMETERS: readonly Parameter[] = [ASSET, ...TIMELINE_FILTER_PARAMETERS];
