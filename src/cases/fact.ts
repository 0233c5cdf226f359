/**
 * What a case remembers of an event: when it happened, what it refers to, and the few things it says that registers and clocks
 * ask for. Facts are ordered by the event's own time, never by arrival, so that late events change nothing but what they say.
 */
import { type EventFacts, metadataText } from "../event/facts.ts";
import { IDENTIFIER_CHARACTERS_MAX } from "../limits.ts";
import type { Sequence } from "../log/outcome.ts";

/** By what an event refers to others. */
export type LinkKind = "correlation" | "decision" | "objection" | "incident";

export type Links = Readonly<Partial<Record<LinkKind, string>>>;

export interface Fact {
  /** The event's `timestamp`, as text that sorts by time: RFC 3339 without the zone, which is UTC. */
  readonly at: string;
  readonly id: string;
  readonly sequence: Sequence;
  readonly type: string;
  readonly asset: string;
  readonly version?: string;
  readonly subject?: string;
  readonly tier?: string;
  readonly bases?: readonly string[];
  readonly links: Links;
  /** From `metadata`, as text. */
  readonly says: Readonly<Partial<Record<Said, string>>>;
}

/** The keys of `metadata` that are understood, each with other names it goes by in the field. */
const SAID = {
  affected_count: [],
  authority: [],
  aware_at: [],
  channel: ["notice_channel", "delivery_method"],
  extension_days: [],
  final_outcome: [],
  incident_class: ["class"],
  locale: [],
  notified: [],
  objection_type: [],
  outcome: ["decision_outcome"],
  policy_version: [],
  reason: [],
  report_type: [],
  resolution: [],
  reviewer_id: ["reviewer"],
  role: [],
  root_cause: ["root_cause_ref"],
  severity: [],
  triggered_by: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Said = keyof typeof SAID;

const SAID_NAMES = Object.entries(SAID).map(([name, others]) => [name, [name, ...others]] as const);

export const DECISION_MADE = "decision.automated_decision_made";
export const OBJECTION_RECEIVED: readonly string[] = ["objection.received", "objection"];
export const INCIDENT_DETECTED = "incident.detected";

export const factOf = (facts: EventFacts, sequence: Sequence): Fact => {
  const { metadata, assetVersion, subjectHash, riskTier, legalBases } = facts;
  return {
    at: facts.occurred,
    id: facts.eventId,
    sequence,
    type: facts.eventType,
    asset: facts.assetId,
    ...(assetVersion !== null && { version: assetVersion }),
    ...(subjectHash !== null && { subject: subjectHash }),
    ...(riskTier !== null && { tier: riskTier }),
    ...(legalBases.length > 0 && { bases: legalBases }),
    links: linksOf(facts),
    says: Object.fromEntries(
      SAID_NAMES.flatMap(([name, names]) => {
        const text = metadataText(metadata, ...names);
        return text === undefined ? [] : [[name, shortened(text)]];
      }),
    ),
  };
};

/**
 * What opens something and gives it no name is named by its own event_id, so that others can refer to it by that. A text too long to be
 * an identifier refers to nothing.
 */
const linksOf = ({ metadata, correlationId, eventId, eventType }: EventFacts): Links => {
  const identifier = (...names: readonly string[]): string | undefined => {
    const text = metadataText(metadata, ...names);
    return text !== undefined && text.length <= IDENTIFIER_CHARACTERS_MAX ? text : undefined;
  };
  const decision =
    identifier("decision_id", "original_decision_id") ?? (eventType === DECISION_MADE ? eventId : undefined);
  const objection =
    identifier("objection_id") ?? (OBJECTION_RECEIVED.includes(eventType) ? eventId : undefined);
  const incident = identifier("incident_id") ?? (eventType === INCIDENT_DETECTED ? eventId : undefined);
  return {
    ...(correlationId !== null && { correlation: correlationId }),
    ...(decision !== undefined && { decision }),
    ...(objection !== undefined && { objection }),
    ...(incident !== undefined && { incident }),
  };
};

const SAID_CHARACTERS_MAX = 500;

/** The whole text stays in the event; a register shows that there is more. */
const shortened = (text: string): string =>
  text.length <= SAID_CHARACTERS_MAX ? text : `${text.slice(0, SAID_CHARACTERS_MAX)}…`;

/** By the time of the event; among equal times by its id. */
export const inOrder = (one: Fact, other: Fact): number => {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
};

/** As RFC 3339. */
export const timeOf = ({ at }: Pick<Fact, "at">): string => `${at}Z`;
