/**
 * What finds an event: its words, which are those of its asset, type, correlation, tags and all texts, numbers and booleans of its metadata, and beside
 * them the labels of the filters.
 */
import { splitEventType } from "../../../streams/subjects.ts";
import type { EventFacts, Tag } from "../../event/facts.ts";
import { words } from "../../event/words.ts";
import { EVENT_WORDS_MAX } from "../../limits.ts";
import type { Label } from "../store/text-index.ts";

/** Finds the words of events. A text that many of them have is split once. */
export const createEventWords = () => {
  const known = new Map<string, readonly string[]>();
  const wordsOf = (text: string): readonly string[] => {
    const found = known.get(text) ?? words(text);
    known.set(text, found);
    return found;
  };
  /** Numbers and booleans as JavaScript writes them, as in tags. Names of members are not searched: they are the same in all events. */
  const addAll = (value: unknown, found: Set<string>): void => {
    if (typeof value === "object" && value !== null)
      for (const each of Object.values(value)) addAll(each, found);
    else if (value !== null && value !== undefined)
      for (const word of wordsOf(String(value))) {
        if (found.size >= EVENT_WORDS_MAX) return;
        found.add(word);
      }
  };
  /** All words of its names, and as many others as there is room for. */
  return ({ assetId, eventType, correlationId, tags, metadata }: EventFacts): readonly string[] => {
    const found = new Set<string>();
    const addName = (name: string): void => {
      for (const word of wordsOf(name)) found.add(word);
    };
    addName(assetId);
    addName(eventType);
    if (correlationId !== null) addName(correlationId);
    for (const { key, value } of tags) {
      addName(key);
      addName(value);
    }
    addAll(metadata, found);
    return [...found];
  };
};

/** Half of all events may have a type, half a tier or a basis, and hardly any both: one label for the two finds these without reading the others. */
export const eventLabels = (facts: EventFacts): readonly Label[] => {
  const { assetId, eventType, riskTier, correlationId, subjectHash, traceId } = facts;
  const { group } = splitEventType(eventType);
  const labels: Label[] = [
    ["asset", assetId],
    ["type", eventType],
    ["group", group],
  ];
  if (riskTier !== null)
    labels.push(["tier", riskTier], ["type.tier", eventType, riskTier], ["group.tier", group, riskTier]);
  if (correlationId !== null) labels.push(["correlation", correlationId]);
  if (subjectHash !== null) labels.push(["subject", subjectHash]);
  if (traceId !== null) labels.push(["trace", traceId]);
  for (const { key, value } of facts.tags) labels.push(["tag", key, value]);
  for (const basis of facts.legalBases)
    labels.push(["basis", basis], ["type.basis", eventType, basis], ["group.basis", group, basis]);
  return labels;
};

export interface AskedFacts {
  readonly assetId?: string | undefined;
  readonly eventType?: string | undefined;
  /** `decision` for every `decision.…`. It follows from the type, and counts only without one. */
  readonly eventGroup?: string | undefined;
  readonly riskTier?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly subjectHash?: string | undefined;
  readonly traceId?: string | undefined;
  readonly legalBasis?: string | undefined;
  readonly tags?: readonly Tag[] | undefined;
}

/** The labels of exactly the events with the requested values. From few events per label to many. */
export const askedLabels = (asked: AskedFacts): readonly Label[] => [
  ...label("trace", asked.traceId),
  ...label("correlation", asked.correlationId),
  ...label("subject", asked.subjectHash),
  ...(asked.tags ?? []).map(({ key, value }): Label => ["tag", key, value]),
  ...label("asset", asked.assetId),
  ...kindLabels(asked),
];

const label = (name: string, value: string | undefined): readonly Label[] =>
  value === undefined ? [] : [[name, value]];

const kindLabels = ({ eventType, eventGroup, riskTier, legalBasis }: AskedFacts): readonly Label[] => {
  const [name, kind] = eventType === undefined ? ["group", eventGroup] : ["type", eventType];
  if (kind === undefined) return [...label("tier", riskTier), ...label("basis", legalBasis)];
  if (riskTier === undefined && legalBasis === undefined) return [[name, kind]];
  return [
    ...(riskTier === undefined ? [] : [[`${name}.tier`, kind, riskTier] as const]),
    ...(legalBasis === undefined ? [] : [[`${name}.basis`, kind, legalBasis] as const]),
  ];
};
