/** A stored event as one row of CSV: the most requested members in columns of their own, and the whole event in the last. */
import { eventFacts, hashMember } from "../../event/facts.ts";
import { readEvent } from "../../event/read-event.ts";
import type { StoredEvent } from "../../views/events/queries.ts";
import { memberTexts } from "../intake/json/slice.ts";
import { CSV_START, csvRow } from "./csv.ts";

/** Members in the columns before `legal_bases`, as the event has them. */
const BEFORE_BASES = ["event_id", "timestamp", "asset_id", "event_type", "risk_tier"] as const;
/** Also found under the other names that clients use. */
const HASHES = ["context_hash", "outcome_hash"] as const;
const AFTER_HASHES = ["correlation_id", "trace_id", "span_id", "asset_version"] as const;
/** As JSON text as it was sent, so that numbers keep all their digits. */
const JSON_TEXTS = ["tags", "metadata"] as const;

export const EVENT_CSV_COLUMNS = [
  "sequence",
  "received_at",
  ...BEFORE_BASES,
  "legal_bases",
  "subject_hash",
  ...HASHES,
  ...AFTER_HASHES,
  ...JSON_TEXTS,
  "event",
] as const;

export const eventCsvStart = (): string => CSV_START + csvRow(EVENT_CSV_COLUMNS);

export const eventCsvRow = ({ sequence, receivedAt, eventText }: StoredEvent): string => {
  const event = readEvent(eventText);
  const facts = eventFacts(event);
  const texts = memberTexts(eventText);
  const member = (name: string): string => {
    const value = event[name];
    return typeof value === "string" ? value : "";
  };
  return csvRow([
    String(sequence),
    receivedAt,
    ...BEFORE_BASES.map(member),
    // With the same values that the filters of these names use.
    facts?.legalBases.join(" ") ?? "",
    facts?.subjectHash ?? "",
    ...HASHES.map((name) => hashMember(event, name) ?? ""),
    ...AFTER_HASHES.map(member),
    ...JSON_TEXTS.map((name) => texts.get(name) ?? ""),
    eventText,
  ]);
};
