/**
 * What a case remembers of an event: when it happened, what it refers to, and the few statements that registers and clocks use. Facts are ordered by
 * the event's own time, never by arrival, so that a late event changes only what it says itself.
 */
import { type EventFacts, type JsonObject, metadataName, shortened, valueText } from "../../event/facts.ts";
import { canonicalEventId } from "../../event/formats.ts";
import type { Sequence } from "../../log/outcome.ts";

export type LinkKind = "correlation" | "decision" | "objection" | "incident";

export type Links = Readonly<Partial<Record<LinkKind, string>>>;

export interface Fact {
  /** The event's `timestamp`, as text that sorts by time: RFC 3339 in UTC without the zone. */
  readonly at: string;
  readonly id: string;
  readonly sequence: Sequence;
  /** When the log received it, in the form of `at`. The event's own time may be backdated; this one cannot. */
  readonly recorded: string;
  readonly type: string;
  readonly asset: string;
  readonly version?: string;
  readonly subject?: string;
  readonly tier?: string;
  readonly bases?: readonly string[];
  readonly links: Links;
  readonly byOriginal?: true;
  /** A notice that names nothing: its decision is that of the same asset and person (DOMAIN 2b, rule 3). It stands in the register under a case of its own. */
  readonly bySubject?: true;
  /** A notice that names nothing, the first one of its asset and person: no decision was made after it yet (views/cases/nodes.ts). */
  readonly awaitsDecision?: true;
  /** The name under which it stands in a register, where it continues something and nothing is found that it could mean. Absent: its own id. */
  readonly standsAs?: string;
  /** From `metadata`, as text; what may be a number (AS_JSON) as JSON. */
  readonly says: Readonly<Partial<Record<Said, string>>>;
}

/** The understood members of `metadata`: a key, and its other names in the field, which count where it is absent. */
export const SAID = [
  ["affected_count"],
  ["authority"],
  ["aware_at"],
  ["channel", "notice_channel", "delivery_method"],
  ["extension_days"],
  ["final_outcome"],
  ["incident_class", "class"],
  ["locale"],
  ["notified"],
  ["objection_type"],
  ["outcome", "decision_outcome"],
  ["policy_version"],
  ["reason"],
  ["report_type"],
  ["resolution"],
  ["reviewer_id", "reviewer"],
  ["role"],
  ["root_cause", "root_cause_ref"],
  ["severity"],
  ["triggered_by"],
] as const;

/** The last two only administrative events say (obligations/obligation.ts). */
export type Said = (typeof SAID)[number][0] | "obligation_id" | "actor";

export const DECISION_MADE = "decision.automated_decision_made";
export const OBJECTION_RECEIVED: readonly string[] = ["objection.received", "objection"];
export const INCIDENT_DETECTED = "incident.detected";
export const INCIDENT_REPORTED = "incident.reported_to_authority";
export const INCIDENT_MITIGATED = "incident.mitigated";

export const FOLLOWS_OBJECTION: readonly string[] = [
  "objection.acknowledged",
  "objection.escalated",
  "objection.resolved",
];
export const FOLLOWS_INCIDENT: readonly string[] = [INCIDENT_REPORTED, INCIDENT_MITIGATED];

export const NOTICE_TYPES: readonly string[] = ["transparency.notice_shown", "disclosure_shown"];
type Typed = Pick<Fact, "type">;
export const isNoticeShown = ({ type }: Typed): boolean => NOTICE_TYPES.includes(type);
export const isNoticeDismissed = ({ type }: Typed): boolean => type === "transparency.notice_dismissed";
export const isNoticeAnswer = (fact: Typed): boolean =>
  isNoticeDismissed(fact) || fact.type === "disclosure_acknowledged";
export const isNotice = (fact: Typed): boolean => isNoticeShown(fact) || isNoticeAnswer(fact);

export const factOf = (facts: EventFacts, sequence: Sequence, recorded: string): Fact => {
  const { metadata, assetVersion, subjectHash, riskTier, legalBases } = facts;
  const fact: Writable<Fact> = {
    at: facts.occurred,
    id: facts.eventId,
    sequence,
    recorded,
    type: facts.eventType,
    asset: facts.assetId,
    links: linksOf(facts),
    says: saidIn(metadata),
  };
  if (assetVersion !== null) fact.version = assetVersion;
  if (subjectHash !== null) fact.subject = subjectHash;
  if (riskTier !== null) fact.tier = riskTier;
  if (legalBases.length > 0) fact.bases = legalBases;
  if (isByOriginal(facts)) fact.byOriginal = true;
  return fact;
};

export type Writable<Of> = { -readonly [Name in keyof Of]: Of[Name] };

const saidIn = (metadata: JsonObject): Fact["says"] => {
  const says: Partial<Record<Said, string>> = {};
  for (const keys of SAID)
    for (const key of keys) {
      const text = valueText(metadata[key]);
      if (text === undefined) continue;
      const [name] = keys;
      says[name] = AS_JSON.includes(name) ? numberOrText(metadata[key], text) : shortened(text);
      break;
    }
  return says;
};

const AS_JSON: readonly Said[] = ["affected_count", "severity"];

const numberOrText = (value: unknown, text: string): string =>
  typeof value === "number" ? text : JSON.stringify(shortened(text));

/**
 * What an event opens without a name is named by its event_id, so that others can refer to it. So a name that is a UUID is compared as event_ids are. A text
 * that is too long for an identifier refers to nothing.
 */
const linksOf = ({ metadata, correlationId, decisionId, eventId, eventType }: EventFacts): Links => {
  const decision =
    decisionId ??
    metadataName(metadata, "decision_id", "original_decision_id") ??
    (eventType === DECISION_MADE ? eventId : undefined);
  const objection =
    metadataName(metadata, "objection_id") ?? (OBJECTION_RECEIVED.includes(eventType) ? eventId : undefined);
  const incident =
    metadataName(metadata, "incident_id") ?? (eventType === INCIDENT_DETECTED ? eventId : undefined);
  const links: Writable<Links> = {};
  if (correlationId !== null) links.correlation = correlationId;
  if (decision !== undefined) links.decision = canonicalEventId(decision);
  if (objection !== undefined) links.objection = canonicalEventId(withoutPrefix(objection));
  if (incident !== undefined) links.incident = canonicalEventId(withoutPrefix(incident));
  return links;
};

const isByOriginal = ({ metadata, decisionId }: EventFacts): boolean =>
  decisionId === null &&
  metadataName(metadata, "decision_id") === undefined &&
  metadataName(metadata, "original_decision_id") !== undefined;

/** A notice that names neither a decision nor a correlation, of one person: rule 3 of DOMAIN 2b. */
export const isNamelessNotice = (fact: Fact): fact is Fact & { readonly subject: string } => {
  if (!isNoticeShown(fact) || fact.subject === undefined) return false;
  const { correlation, decision, objection, incident } = fact.links;
  return (correlation ?? decision ?? objection ?? incident) === undefined;
};

export const NAMED_KINDS = ["objection", "incident"] as const satisfies readonly LinkKind[];
export type NamedKind = (typeof NAMED_KINDS)[number];

/** The name that registers give to what only its event can name (views/cases/nodes.ts). */
export const nameByEvent = ({ id }: Pick<Fact, "id">): string => `event:${id}`;

/** Whoever sends such a name has it from a register, and means the event. So no event can give such a name to anything. */
const withoutPrefix = (name: string): string => name.replace(/^(?:event:)+(?=.)/s, "");

/** A fact with other names. `nameOf` returns what stands in the place of a name; undefined where nothing does. */
export const renamed = (fact: Fact, nameOf: (kind: NamedKind, value: string) => string | undefined): Fact => {
  let links: Writable<Links> | undefined;
  for (const kind of NAMED_KINDS) {
    const value = fact.links[kind];
    const name = value === undefined ? undefined : nameOf(kind, value);
    if (name === value) continue;
    links ??= { ...fact.links };
    if (name === undefined) delete links[kind];
    else links[kind] = name;
  }
  return links ? { ...fact, links } : fact;
};

/** By the time of the event; among equal times by its id. */
export const inOrder = (one: Pick<Fact, "at" | "id">, other: Pick<Fact, "at" | "id">): number => {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
};

export const earlier = (...facts: readonly (Fact | undefined)[]): Fact | undefined =>
  facts.reduce(
    (first, fact) => (first && fact ? (fact.at < first.at ? fact : first) : (first ?? fact)),
    undefined,
  );

export const grouped = <Each>(
  all: readonly Each[],
  keyOf: (each: Each) => string | undefined,
): ReadonlyMap<string, readonly Each[]> => {
  const groups = new Map<string, Each[]>();
  for (const each of all) {
    const key = keyOf(each);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
  }
  return groups;
};

export const basesOf = (facts: readonly Fact[]): readonly string[] => {
  const all = new Set<string>();
  for (const { bases = [] } of facts) for (const basis of bases) all.add(basis);
  return [...all];
};

/**
 * The first fact at or after this time. The facts are in order, and a case may have thousands: a look through all of them for each one would take
 * quadratic time.
 */
export const firstFrom = (facts: readonly Fact[], at: string): Fact | undefined =>
  facts[countWhile(facts, (fact) => fact.at < at)];

/** How many items at the beginning satisfy the condition. After the first that does not, none may. */
export const countWhile = <Each>(all: readonly Each[], holds: (each: Each) => boolean): number => {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const each = all[middle];
    if (each !== undefined && holds(each)) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** A word as rules compare it, in lower case. Registers show it as it was sent. */
export const saysWord = ({ says }: Pick<Fact, "says">, name: Said): string | undefined =>
  says[name]?.toLowerCase();

export const timeOf = ({ at }: Pick<Fact, "at">): string => `${at}Z`;

export const recordedTimeOf = ({ recorded }: Pick<Fact, "recorded">): string => `${recorded}Z`;
