/** Query parameters that filter events: one set for lists, streams and exports. */
import {
  canonicalTraceId,
  isLegalBasis,
  isSha256,
  LEGAL_BASIS as LEGAL_BASIS_PATTERN,
  SHA256,
} from "../../event/formats.ts";
import { RISK_TIERS } from "../../event/risk-tiers.ts";
import { readSearchText } from "../../event/search-query.ts";
import {
  FILTER_COMBINATIONS_MAX,
  LEGAL_BASIS_CHARACTERS_MAX,
  METADATA_LEGAL_BASES_MAX,
  SEARCH_CHARACTERS_MAX,
  SEARCH_PREFIX_CHARACTERS_MIN,
  SEARCH_WORDS_MAX,
  TAGS_MAX,
} from "../../limits.ts";
import type { EventConditions } from "../../views/events/queries.ts";
import type { AskedFacts } from "../../views/events/terms.ts";
import {
  type Asking,
  allOf,
  choice,
  combinations,
  type Form,
  oneOf,
  several,
  textAs,
  timeRange,
} from "./parameters.ts";

/** The form of a group and of a type. Unknown names are allowed: the log may hold types that this version or its settings no longer accept. */
const GROUP = /^[a-z][a-z0-9_]*\.\*$/;
const TYPE = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$/;

export const HASH: Form = {
  isValid: isSha256,
  expects: 'a hash written as "sha256:" and 64 hexadecimal digits',
  schema: { type: "string", pattern: SHA256.source },
};
export const LEGAL_BASIS: Form = {
  isValid: isLegalBasis,
  expects: `a name in lower snake case of at most ${LEGAL_BASIS_CHARACTERS_MAX} characters, for example pipa_37_2_kr`,
  schema: { type: "string", pattern: LEGAL_BASIS_PATTERN.source, maxLength: LEGAL_BASIS_CHARACTERS_MAX },
};
const EVENT_TYPE: Form = {
  isValid: (text) => GROUP.test(text) || TYPE.test(text),
  expects: "a type such as decision.automated_decision_made, or a group such as decision.*",
  schema: { type: "string", pattern: `${GROUP.source}|${TYPE.source}` },
};

export const EVENT_TYPES = several(
  "event_type",
  "Exactly this type, or a group: `decision.*`. The six legacy types, and the operator's one-word types (EXTRA_EVENT_TYPES), are the group `legacy.*`. A type that no event has finds nothing.",
  EVENT_TYPE,
);

interface Fact {
  readonly name: string;
  readonly description?: string;
  readonly form?: Form;
  readonly asking: Asking<readonly string[] | undefined>;
  readonly of: (value: string) => AskedFacts;
}

const fact = (name: string, description: string, of: Fact["of"], form?: Form): Fact => ({
  name,
  ...(form && { form }),
  asking: several(name, description, form),
  of,
});

const ASSET = fact("asset_id", "Exactly this asset.", (assetId) => ({ assetId }));
const KIND: readonly Fact[] = [
  {
    name: "event_type",
    form: EVENT_TYPE,
    asking: EVENT_TYPES,
    of: (type) => (GROUP.test(type) ? { eventGroup: type.slice(0, -2) } : { eventType: type }),
  },
  fact("risk_tier", "Exactly this tier.", (riskTier) => ({ riskTier }), oneOf(RISK_TIERS)),
];
const FACTS: readonly Fact[] = [
  ...KIND,
  fact(
    "legal_basis",
    `Events that name this basis, also inside \`metadata.legal_bases\` if the event has none of its own: the first ${METADATA_LEGAL_BASES_MAX} different names there count.`,
    (legalBasis) => ({ legalBasis }),
    LEGAL_BASIS,
  ),
  fact(
    "correlation_id",
    "Exactly this group of events; also found in `gen_ai.conversation.id` of their `metadata` where they have none.",
    (correlationId) => ({ correlationId }),
  ),
  fact(
    "subject_hash",
    "The person concerned; also found in `metadata.user_id_hash` and `metadata.recipient_hash`.",
    (subjectHash) => ({ subjectHash }),
    HASH,
  ),
  fact("trace_id", "Exactly this trace; one of W3C Trace Context in either case.", (traceId) => ({
    traceId: canonicalTraceId(traceId),
  })),
];

/** Each with its opposite. Not `asset_id=!x`: an id may start with any character. */
const factsAsked = (facts: readonly Fact[]): Asking<EventConditions> => {
  const not = facts.map(({ name, form, of }) => ({
    name: `not_${name}`,
    asking: several(`not_${name}`, "", form),
    of,
  }));
  return {
    documented: [
      ...facts.flatMap(({ asking }) => asking.documented),
      ...not.flatMap(({ asking }, index) =>
        asking.documented.map((each) => ({
          ...each,
          description: `Without the events that \`${facts[index]?.name}\` finds with these values.`,
        })),
      ),
    ],
    read: (query) => {
      const valuesOf = (those: readonly Pick<Fact, "name" | "asking" | "of">[]) =>
        those.map(({ name, asking, of }) => ({ name, values: asking.read(query)?.map(of) ?? [] }));
      const [asked, excluded] = [valuesOf(facts), valuesOf(not)];
      const noneOf = excluded.flatMap(({ values }) => values);
      const [longest] = excluded.toSorted((a, b) => b.values.length - a.values.length);
      if (longest && noneOf.length > FILTER_COMBINATIONS_MAX)
        query.refuse(
          longest.name,
          `${noneOf.length} values are excluded; at most ${FILTER_COMBINATIONS_MAX} are allowed at once: send fewer.`,
        );
      // A filter with one value is its own condition; those with several are expanded into alternatives.
      const choices = asked.filter(({ values }) => values.length > 1);
      const single = asked.filter(({ values }) => values.length === 1).flatMap(({ values }) => values);
      return {
        ...Object.assign({}, ...single),
        ...(choices.length > 0 && {
          anyOf: combinations(query, choices).map((each) => Object.assign({}, ...each)),
        }),
        ...(noneOf.length > 0 && { noneOf }),
        timeField: "timestamp",
      };
    },
  };
};

export const STREAM_FILTER = factsAsked([ASSET, ...KIND]);

export const TYPES_OR_GROUPS: Asking<{
  readonly eventTypes?: readonly string[];
  readonly eventGroups?: readonly string[];
}> = {
  documented: EVENT_TYPES.documented,
  read: (query) => {
    const asked = EVENT_TYPES.read(query);
    if (asked === undefined) return {};
    const groups = asked.filter((text) => GROUP.test(text));
    if (groups.length === 0) return { eventTypes: asked };
    if (groups.length < asked.length)
      query.refuse("event_type", "event_type mixes types and groups: send one kind.");
    return { eventGroups: groups.map((group) => group.slice(0, -2)) };
  },
};

const TEXT = textAs(
  "q",
  [
    `Words, separated by white space, at most ${SEARCH_WORDS_MAX}: events in which all of them occur, in asset, type, correlation, tags or the`,
    "values of the metadata. Case does not matter. An identifier is found whole, `dec_42`, and by its parts, `dec` or `42`.",
    `\`credit*\` finds every word with this start, from ${SEARCH_PREFIX_CHARACTERS_MIN} characters. Phrases in quotation marks are refused.`,
  ].join(" "),
  { type: "string", minLength: 1, maxLength: SEARCH_CHARACTERS_MAX },
  readSearchText,
);

/**
 * Each tag is a parameter of its own, which OpenAPI can describe only as the members of an object. The page at /docs starts with the
 * default; an example would be sent and would find nothing.
 */
const TAGS: Asking<EventConditions["tags"]> = {
  documented: [
    {
      name: "tags",
      in: "query",
      description:
        'Events with these tags: `tag.team=credit`, `tag.<key>=<value>` for each, each key once. Here as an object whose members are such parameters: `{"tag.team": "credit"}`. Numbers match as JavaScript writes them, whole ones beyond 2⁵³ by their digits as sent: `tag.threshold=1.5` finds 1.50, `tag.limit=1000000` finds 1e6.',
      schema: {
        type: "object",
        additionalProperties: { type: "string" },
        maxProperties: TAGS_MAX,
        default: {},
      },
      style: "form",
      explode: true,
    },
  ],
  // More tags than an event can have are refused: they would always find nothing.
  read: (query) => {
    const tags = query.prefixed(TAG_PREFIX);
    if (tags.length > TAGS_MAX)
      query.refuse(
        TAG_PREFIX,
        `${tags.length} tags were sent, and an event has at most ${TAGS_MAX}: send fewer.`,
      );
    return tags;
  },
};
const TAG_PREFIX = "tag.";

const filterBy = (facts: readonly Fact[]): Asking<EventConditions> => {
  const { documented, read } = allOf({
    facts: factsAsked(facts),
    text: TEXT,
    tags: TAGS,
    times: timeRange("Compares the time that `time_field` names."),
    timeField: choice(
      "time_field",
      "Which time `from` and `to` mean.",
      ["timestamp", "received_at"],
      "timestamp",
    ),
  });
  return {
    documented,
    read: (query) => {
      const { facts: asked, times, ...others } = read(query);
      return { ...asked, ...times, ...others };
    },
  };
};

export const EVENT_FILTER = filterBy([ASSET, ...FACTS]);
export const TIMELINE_FILTER = filterBy(FACTS);
