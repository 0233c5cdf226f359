/** Query parameters that filter events, and their documentation: one set for lists, streams and exports. */
import { canonicalTraceId, isLegalBasis, isSha256, LEGAL_BASIS, SHA256 } from "../../event/formats.ts";
import { RISK_TIERS } from "../../event/risk-tiers.ts";
import { readSearchText } from "../../event/search-text.ts";
import {
  FILTER_COMBINATIONS_MAX,
  LEGAL_BASIS_CHARACTERS_MAX,
  METADATA_LEGAL_BASES_MAX,
  SEARCH_CHARACTERS_MAX,
  SEARCH_PREFIX_CHARACTERS_MIN,
  SEARCH_WORDS_MAX,
  TAGS_MAX,
} from "../../limits.ts";
import type { AskedFacts } from "../../views/events/labels.ts";
import type { EventConditions } from "../../views/events/queries.ts";
import type { Parameter } from "./openapi.ts";
import type { Query } from "./query.ts";
import { parameter } from "./reading.ts";
import { combinations, type Form, oneOf, several, severalParameter } from "./several.ts";
import { readTimeRange, timeRangeParameters } from "./time-range.ts";

/**
 * The form of a group and of a type. Unknown names are allowed: the log may hold types that this version or its settings no longer accept.
 */
const GROUP = /^[a-z][a-z0-9_]*\.\*$/;
const TYPE = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$/;

export const HASH = { isValid: isSha256, expects: 'a hash written as "sha256:" and 64 hexadecimal digits' };
export const HASH_SCHEMA: Parameter["schema"] = { type: "string", pattern: SHA256.source };
export const LEGAL_BASIS_FORM = {
  isValid: isLegalBasis,
  expects: `a name in lower snake case of at most ${LEGAL_BASIS_CHARACTERS_MAX} characters, for example pipa_37_2_kr`,
};
export const LEGAL_BASIS_SCHEMA: Parameter["schema"] = {
  type: "string",
  pattern: LEGAL_BASIS.source,
  maxLength: LEGAL_BASIS_CHARACTERS_MAX,
};

interface Fact {
  readonly form?: Form;
  readonly of: (value: string) => AskedFacts;
}

/** What each filter of several values asks of an event, a value at a time. */
const FACTS = {
  asset_id: { of: (assetId) => ({ assetId }) },
  event_type: {
    form: {
      isValid: (text) => GROUP.test(text) || TYPE.test(text),
      expects: "a type such as decision.automated_decision_made, or a group such as decision.*",
    },
    of: (type) => (GROUP.test(type) ? { eventGroup: type.slice(0, -2) } : { eventType: type }),
  },
  risk_tier: { form: oneOf(RISK_TIERS), of: (riskTier) => ({ riskTier }) },
  legal_basis: { form: LEGAL_BASIS_FORM, of: (legalBasis) => ({ legalBasis }) },
  correlation_id: { of: (correlationId) => ({ correlationId }) },
  subject_hash: { form: HASH, of: (subjectHash) => ({ subjectHash }) },
  trace_id: { of: (traceId) => ({ traceId: canonicalTraceId(traceId) }) },
} as const satisfies Readonly<Record<string, Fact>>;

/** Not `asset_id=!x`: an id may begin with any character. */
const NOT = "not_";

/** A filter of one value is a condition of its own, and all with several are taken apart into alternatives. */
export const readFacts = (query: Query, names: readonly (keyof typeof FACTS)[]): EventConditions => {
  let single: AskedFacts = {};
  const choices: { readonly name: string; readonly values: readonly AskedFacts[] }[] = [];
  const noneOf: AskedFacts[] = [];
  for (const name of names) {
    const { form, of }: Fact = FACTS[name];
    const values = several(query, name, form)?.map(of) ?? [];
    if (values.length > 1) choices.push({ name, values });
    else single = { ...single, ...values[0] };
    noneOf.push(...(several(query, NOT + name, form)?.map(of) ?? []));
  }
  if (noneOf.length > FILTER_COMBINATIONS_MAX)
    query.refuse(
      NOT + (names[0] ?? ""),
      `${noneOf.length} values are to be left out, and at most ${FILTER_COMBINATIONS_MAX} are at once: send fewer.`,
    );
  return {
    ...single,
    ...(choices.length > 0 && {
      anyOf: combinations(query, choices).map((facts) => Object.assign({}, ...facts)),
    }),
    ...(noneOf.length > 0 && { noneOf }),
    timeField: "timestamp",
  };
};

const KIND = ["event_type", "risk_tier"] as const;

/** The filters that a live stream takes. */
export const readStreamFilter = (query: Query): EventConditions => readFacts(query, [...KIND, "asset_id"]);

/** Types or groups, for counts, which are kept by either. */
export const readEventTypes = (
  query: Query,
): { readonly eventTypes?: readonly string[]; readonly eventGroups?: readonly string[] } => {
  const asked = several(query, "event_type", FACTS.event_type.form);
  if (asked === undefined) return {};
  const [groups = [], types = []] = [true, false].map((isGroup) =>
    asked.filter((text) => GROUP.test(text) === isGroup),
  );
  if (groups.length > 0 && types.length > 0)
    query.refuse("event_type", "event_type has types and groups: send one kind of them.");
  return types.length > 0
    ? { eventTypes: types }
    : { eventGroups: groups.map((group) => group.slice(0, -2)) };
};

export const readEventFilter = (query: Query): EventConditions => readFilter(query, ["asset_id"]);

/** All except the asset, which is in the path. */
export const readTimelineFilter = (query: Query): EventConditions => readFilter(query, []);

const readFilter = (query: Query, more: readonly (keyof typeof FACTS)[]): EventConditions => ({
  ...readFacts(query, [...KIND, "legal_basis", "correlation_id", "subject_hash", "trace_id", ...more]),
  tags: readTags(query),
  text: query.read("q", readSearchText),
  ...readTimeRange(query),
  timeField: query.choice("time_field", ["timestamp", "received_at"], "timestamp"),
});

/** More tags than an event can have are refused: they would always find nothing. */
const readTags = (query: Query): EventConditions["tags"] => {
  const tags = query.prefixed(TAG_PREFIX);
  if (tags.length > TAGS_MAX)
    query.refuse(
      TAG_PREFIX,
      `${tags.length} tags are asked for, and an event has at most ${TAGS_MAX}: send fewer.`,
    );
  return tags;
};
const TAG_PREFIX = "tag.";

const ASSET = severalParameter("asset_id", "Exactly this asset.");

export const EVENT_TYPE_PARAMETER = severalParameter(
  "event_type",
  "Exactly this type, or a group: `decision.*`. The six legacy types, and those of one word that the operator adds (EXTRA_EVENT_TYPES), are the group `legacy.*`. A type that no event has finds nothing.",
  { type: "string", pattern: `${GROUP.source}|${TYPE.source}` },
);

const KIND_PARAMETERS: readonly Parameter[] = [
  EVENT_TYPE_PARAMETER,
  severalParameter("risk_tier", "Exactly this tier.", { type: "string", enum: [...RISK_TIERS] }),
];

/** With the filters that leave out what these find. */
const andNot = (parameters: readonly Parameter[]): readonly Parameter[] => [
  ...parameters,
  ...parameters.map(({ name, schema, ...parameter }) => ({
    ...parameter,
    name: NOT + name,
    schema,
    description: `Without the events that \`${name}\` finds with these values.`,
  })),
];

export const STREAM_FILTER_PARAMETERS: readonly Parameter[] = andNot([ASSET, ...KIND_PARAMETERS]);

const TEXT = parameter(
  "q",
  [
    `Words, separated by white space, at most ${SEARCH_WORDS_MAX}: events in which all of them occur, in asset, type, correlation, tags or the`,
    "values of the metadata. Upper and lower case are the same. An identifier is found whole, `dec_42`, and by its parts, `dec` or `42`.",
    `\`credit*\` finds every word that begins so, from ${SEARCH_PREFIX_CHARACTERS_MIN} characters. Phrases in quotation marks are refused.`,
  ].join(" "),
  { type: "string", minLength: 1, maxLength: SEARCH_CHARACTERS_MAX },
);

/**
 * Each tag is a parameter of its own, which OpenAPI can describe only as the members of an object. The page at /docs begins with the
 * default; an example would be sent and would find nothing.
 */
const TAGS: Parameter = {
  ...parameter(
    "tags",
    'Events with these tags: `tag.team=credit`, `tag.<key>=<value>` for each, each key once. Here as an object whose members are such parameters: `{"tag.team": "credit"}`. A number is looked for as JavaScript writes it, and a whole one beyond 2⁵³ by its digits as sent: `tag.threshold=1.5` finds 1.50, `tag.limit=1000000` finds 1e6.',
    { type: "object", additionalProperties: { type: "string" }, maxProperties: TAGS_MAX, default: {} },
  ),
  style: "form",
  explode: true,
};

const FACT_PARAMETERS: readonly Parameter[] = [
  ...KIND_PARAMETERS,
  severalParameter(
    "legal_basis",
    `Events that name this basis, also inside \`metadata.legal_bases\` where the event has none of its own: of what stands there the first ${METADATA_LEGAL_BASES_MAX} different names count.`,
    LEGAL_BASIS_SCHEMA,
  ),
  severalParameter(
    "correlation_id",
    "Exactly this group of events; also found in `gen_ai.conversation.id` of their `metadata` where they have none.",
  ),
  severalParameter(
    "subject_hash",
    "The person concerned; also found in `metadata.user_id_hash` and `metadata.recipient_hash`.",
    HASH_SCHEMA,
  ),
  severalParameter("trace_id", "Exactly this trace; one of W3C Trace Context in either case."),
];

const BESIDE_FACTS: readonly Parameter[] = [
  TEXT,
  TAGS,
  ...timeRangeParameters("What counts is the time that `time_field` names."),
  parameter("time_field", "Which time `from` and `to` mean.", {
    type: "string",
    enum: ["timestamp", "received_at"],
    default: "timestamp",
  }),
];

export const TIMELINE_FILTER_PARAMETERS: readonly Parameter[] = [...andNot(FACT_PARAMETERS), ...BESIDE_FACTS];

export const EVENT_FILTER_PARAMETERS: readonly Parameter[] = [
  ...andNot([ASSET, ...FACT_PARAMETERS]),
  ...BESIDE_FACTS,
];
