/** The forms of a stored event: JSON in answers, a line of a file, a row of CSV, a message of a stream. */
import { eventFacts, hashMember, readEvent } from "../../event/facts.ts";
import type { Warner } from "../../event/warnings.ts";
import { STREAM_RETRY_MS } from "../../limits.ts";
import type { StoredEvent } from "../../views/events/queries.ts";
import { memberTexts } from "../intake/json/slice.ts";
import { CSV_START, csvRow } from "./csv.ts";

/** The event's text is inserted as sent. */
export const storedEventText = ({ sequence, tenant, receivedAt, eventText }: StoredEvent): string =>
  `{"sequence":${sequence},"tenant":"${tenant}","received_at":"${receivedAt}","event":${eventText}}`;

/** With its sender's warnings by today's rules: warnings are not stored. */
export const warnedEventText = (stored: StoredEvent, warn: Warner): string => {
  const text = storedEventText(stored);
  const warnings = warn(JSON.parse(stored.eventText), Date.parse(stored.receivedAt));
  return warnings.length === 0 ? text : `${text.slice(0, -1)},"warnings":${JSON.stringify(warnings)}}`;
};

/** On one line. Raw line breaks cannot stand inside a JSON string (RFC 8259 §7), so only white space between values changes. */
export const storedEventLine = (stored: StoredEvent): string =>
  `${storedEventText({ ...stored, eventText: stored.eventText.replaceAll(/[\r\n]/g, " ") })}\n`;

/** Members in the columns before `legal_bases`, as the event has them. */
const BEFORE_BASES = ["event_id", "timestamp", "asset_id", "event_type", "risk_tier"] as const;
/** Also found under clients' other names. */
const HASHES = ["context_hash", "outcome_hash"] as const;
const AFTER_HASHES = ["correlation_id", "trace_id", "span_id", "asset_version"] as const;
/** JSON text as sent, so that numbers keep all their digits. */
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

/** Server-Sent Events (HTML §9.2). Clients remember an id without data: one disconnected before its first event misses none. */
export const streamOpening = (sequence: number): string => `retry: ${STREAM_RETRY_MS}\nid: ${sequence}\n\n`;

export const streamKeepAlive = (sequence: number): string => `: keep-alive\nid: ${sequence}\n\n`;

/** A line break ends a field, so an event with raw line breaks takes several. Clients join them again with a line feed. */
export const streamMessage = (stored: StoredEvent): string => {
  const lines = storedEventText(stored).split(/\r\n|\r|\n/);
  return `id: ${stored.sequence}\nevent: audit\n${lines.map((line) => `data: ${line}\n`).join("")}\n`;
};

export const STORED_EXAMPLE: StoredEvent = {
  sequence: 1,
  tenant: "acme",
  receivedAt: "2026-11-20T10:00:00.512Z",
  eventText: JSON.stringify({
    event_id: "evt_sample_001",
    timestamp: "2026-11-20T10:00:00.000Z",
    asset_id: "credit_model",
    event_type: "decision.automated_decision_made",
    legal_bases: ["ai_basic_law_kr"],
    risk_tier: "high",
    metadata: { decision_id: "dec_42", outcome: "approved", model: "scorer-7" },
  }),
};
