/** The labels by which the filters of a search find an event, beside its words. */
import { splitEventType } from "../../../streams/subjects.ts";
import type { EventFacts, Tag } from "../../event/facts.ts";
import type { Label } from "../../views/text-index.ts";

export const eventLabels = (facts: LabelledFacts): readonly Label[] => {
  const { assetId, eventType, riskTier, correlationId, subjectHash, traceId } = facts;
  const labels: Label[] = [["asset", assetId]];
  for (const label of typeLabels(eventType, riskTier)) labels.push(label);
  if (correlationId !== null) labels.push(["correlation", correlationId]);
  if (subjectHash !== null) labels.push(["subject", subjectHash]);
  if (traceId !== null) labels.push(["trace", traceId]);
  for (const { key, value } of facts.tags) labels.push(["tag", key, value]);
  for (const legalBasis of facts.legalBases)
    for (const label of basisLabels(eventType, legalBasis)) labels.push(label);
  return labels;
};

/** Half of all events may have a type, half a tier or a basis, and hardly any both: one label for the two finds these without reading the others. */
const typeLabels = (eventType: string, riskTier: string | null): readonly Label[] => {
  const { byTier } = kindsOf(eventType);
  const known = byTier.get(riskTier);
  if (known) return known;
  const { group } = splitEventType(eventType);
  const labels: Label[] = [
    ["type", eventType],
    ["group", group],
  ];
  if (riskTier !== null)
    labels.push(["tier", riskTier], ["type.tier", eventType, riskTier], ["group.tier", group, riskTier]);
  remember(byTier, riskTier, labels);
  return labels;
};

const basisLabels = (eventType: string, legalBasis: string): readonly Label[] => {
  const { byBasis } = kindsOf(eventType);
  const known = byBasis.get(legalBasis);
  if (known) return known;
  const { group } = splitEventType(eventType);
  const labels: readonly Label[] = [
    ["basis", legalBasis],
    ["type.basis", eventType, legalBasis],
    ["group.basis", group, legalBasis],
  ];
  remember(byBasis, legalBasis, labels);
  return labels;
};

/** Labels that follow from a type are made once for all of its events: otherwise thousands of copies of each would be held until they are written. */
interface KindLabels {
  readonly byTier: Map<string | null, readonly Label[]>;
  readonly byBasis: Map<string, readonly Label[]>;
}

const kinds = new Map<string, KindLabels>();
const remembered = { count: 0 };
/** A service has some 50 types with a few tiers and laws each. Beyond this number all are forgotten, because anybody may send others. */
const REMEMBERED_MAX = 1000;

const kindsOf = (eventType: string): KindLabels => {
  const known = kinds.get(eventType);
  if (known) return known;
  const made = { byTier: new Map(), byBasis: new Map() };
  kinds.set(eventType, made);
  return made;
};

const remember = <Key>(labelsBy: Map<Key, readonly Label[]>, key: Key, labels: readonly Label[]): void => {
  if (remembered.count++ >= REMEMBERED_MAX) {
    kinds.clear();
    remembered.count = 0;
  }
  labelsBy.set(key, labels);
};

type LabelledFacts = Pick<
  EventFacts,
  "assetId" | "eventType" | "riskTier" | "correlationId" | "subjectHash" | "traceId" | "tags" | "legalBases"
>;

/** The requested values; undefined if any value will do. */
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
  /** The event must have all of them. */
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

/** The label of a type or its group, with tier and basis. */
const kindLabels = ({ eventType, eventGroup, riskTier, legalBasis }: AskedFacts): readonly Label[] => {
  const [name, kind] = eventType === undefined ? ["group", eventGroup] : ["type", eventType];
  if (kind === undefined) return [...label("tier", riskTier), ...label("basis", legalBasis)];
  if (riskTier === undefined && legalBasis === undefined) return [[name, kind]];
  return [
    ...(riskTier === undefined ? [] : [[`${name}.tier`, kind, riskTier] as const]),
    ...(legalBasis === undefined ? [] : [[`${name}.basis`, kind, legalBasis] as const]),
  ];
};
