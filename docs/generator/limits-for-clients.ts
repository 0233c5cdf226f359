/** The limits that a client meets, in words. The numbers come from src/limits.ts, so that a sentence cannot name another one. */
import * as limits from "../../src/limits.ts";
import { countText, durationText, sizeText } from "./units.ts";

const numbers: Readonly<Record<string, number>> = limits;
const numberOf = (name: keyof typeof limits): number => numbers[name] ?? Number.NaN;
const size = (name: keyof typeof limits): string => sizeText(numberOf(name));
const time = (name: keyof typeof limits): string => durationText(numberOf(name));
const count = (name: keyof typeof limits): string => countText(numberOf(name));

export const LIMITS_FOR_CLIENTS: readonly (readonly [what: string, limit: string])[] = [
  ["events in a batch", count("BATCH_EVENTS_MAX")],
  [
    "one event",
    `${size("EVENT_BYTES_MAX")}, at most ${count("EVENT_DEPTH_MAX")} levels of objects and arrays`,
  ],
  [
    "request body",
    `${size("SINGLE_BODY_BYTES_MAX")} with one event, ${size("BATCH_BODY_BYTES_MAX")} with a batch, ${size("OBJECT_BODY_BYTES_MAX")} for any other request; plain, gzip or zstd, where the limit holds before and after decompression`,
  ],
  [
    "time for a request to arrive",
    `${time("HEAD_MS_MAX")} for the head, ${time("BODY_MS_MAX")} for the body; an idle connection is closed after ${time("CONNECTION_IDLE_MS_MAX")}`,
  ],
  [
    "head of a request",
    "16 KiB with path, parameters and all headers, at most 198 headers; above that a bare 431, because nothing of the request is read",
  ],
  [
    "body of a refused request",
    `The answer comes at once and the rest of the body is thrown away. With \`Connection: close\` up to ${size("BODY_BYTES_DISCARDED_MAX")} of it are read first, from ${count("BODIES_DISCARDED_AT_ONCE")} clients at once. Above ${size("CONNECTION_BODY_BYTES_MAX")} a bare 413, and the connection is closed`,
  ],
  [
    "tags",
    `${count("TAGS_MAX")} per event; keys of 1 to ${count("TAG_KEY_CHARACTERS_MAX")} characters; values: text of at most ${count("TAG_VALUE_CHARACTERS_MAX")} characters, number or boolean`,
  ],
  [
    "legal bases",
    `${count("LEGAL_BASES_MAX")} per event, names of at most ${count("LEGAL_BASIS_CHARACTERS_MAX")} characters. Of a list in \`metadata.legal_bases\` the views read the first ${count("METADATA_LEGAL_BASES_MAX")}`,
  ],
  [
    "identity",
    `\`event_id\`, or the header \`Idempotency-Key\` (1 to ${count("IDEMPOTENCY_KEY_CHARACTERS_MAX")} visible ASCII characters), remembered for ${time("DUPLICATE_WINDOW_MS")}; with \`resent=true\` any time`,
  ],
  [
    "identifiers",
    `\`asset_id\`, \`correlation_id\`, \`trace_id\`, \`span_id\`, \`asset_version\`: ${count("IDENTIFIER_CHARACTERS_MAX")} characters. In a path any id but \`.\` and \`..\`, which URL clients remove; use a filter for these`,
  ],
  [
    "page of a list",
    `${count("PAGE_ROWS_DEFAULT")} rows by default, at most ${count("PAGE_ROWS_MAX")}. A page of events has at most ${size("PAGE_BYTES_MAX")}, so it may have fewer rows than \`limit\`; \`next_cursor\` says whether there are more`,
  ],
  [
    "answers without pages",
    `\`/v1/activity\` ${count("ACTIVITY_ROWS_MAX")} rows, \`/v1/reconciliation\` ${count("RECONCILED_HOURS_MAX")} hours; above that 400`,
  ],
  [
    "full-text search",
    `\`q\`: ${count("SEARCH_CHARACTERS_MAX")} characters, ${count("SEARCH_WORDS_MAX")} words; \`*\` after at least ${count("SEARCH_PREFIX_CHARACTERS_MIN")} letters. An event is found by ${count("EVENT_WORDS_MAX")} different words`,
  ],
  [
    "what registers show of an event",
    `${count("METADATA_LIST_ITEMS_MAX")} clauses, ${count("METADATA_LIST_ITEMS_MAX")} items of a checklist, ${count("KEPT_TEXT_CHARACTERS_MAX")} characters of a text, ${count("OUTCOME_CHARACTERS_MAX")} of an outcome, with \`…\` where there are more. The event itself keeps everything`,
  ],
  [
    "one case",
    `${count("CASE_FACTS_MAX")} events per name; a name beside more than ${count("CASE_NEIGHBOURS_MAX")} others links nothing`,
  ],
  [
    "evidence bundle",
    `${count("EVIDENCE_RECORDS_MAX")} records and ${size("EVIDENCE_BYTES_MAX")} of them; above that 413, ask in parts`,
  ],
  [
    "keys of a tenant",
    `${count("KEYS_PER_TENANT_MAX")}, with expired and revoked ones. A rotated key works for ${durationText(limits.KEY_GRACE_SECONDS_DEFAULT * 1000)} by default, ${durationText(limits.KEY_GRACE_SECONDS_MAX * 1000)} at most`,
  ],
  [
    "holds of a tenant",
    `${count("HOLDS_PER_TENANT_MAX")} that are not released, each with a reason of at most ${count("HOLD_REASON_CHARACTERS_MAX")} characters`,
  ],
  [
    "open at once, per instance",
    `live streams: ${count("STREAMS_PER_KEY_MAX")} of a key, ${count("STREAMS_PER_TENANT_MAX")} of a tenant, ${count("STREAMS_MAX")} in all; exports and evidence bundles: ${count("EXPORTS_PER_KEY_MAX")} of a key, ${count("EXPORTS_PER_TENANT_MAX")} of a tenant, ${count("EXPORTS_MAX")} in all; above that 503 \`overloaded\``,
  ],
  [
    "held at once, per instance",
    `bodies ${size("BODY_BYTES_HELD_MAX")}, answers ${size("ANSWER_BYTES_HELD_MAX")}, events on their way to the log ${count("APPEND_RECORDS_HELD_MAX")} and ${size("APPEND_BYTES_HELD_MAX")}; once half is used, one tenant may hold a quarter; above that 503 \`overloaded\``,
  ],
  [
    "changes of one key, policy or hold that wait for each other",
    `${count("TURNS_WAITING_MAX")}; above that 503 \`overloaded\`. Revocations have as many places of their own`,
  ],
  [
    "sandbox",
    `${count("SANDBOX_REQUESTS_PER_MINUTE")} requests per minute and client; events are kept for ${time("SANDBOX_AGE_MS_MAX")}, ${size("SANDBOX_BYTES_MAX")} of all together`,
  ],
];
