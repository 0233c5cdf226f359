/** Events as the command line asks for them and shows them: filters of the API as options, which a test compares with the API's, and columns. */
import { integerComplaint, tagComplaint } from "./argument-values.ts";
import { type OptionSpec, option } from "./command.ts";
import { asRecord, type JsonRecord, shown } from "./json.ts";
import { filterUnder } from "./query.ts";
import type { Column } from "./table.ts";

const filter = filterUnder("Filters (all must hold):");

/** With the filters that leave out what these find. */
const andNot = (filters: readonly OptionSpec[]): readonly OptionSpec[] => [
  ...filters,
  ...filters.map((each) => ({
    ...each,
    flag: each.flag.replace("--", "--not-"),
    description: `without what ${each.flag} finds`,
  })),
];

const RISK_TIERS = ["low", "limited", "high", "prohibited"] as const;

/** The filters of a live stream. */
const STREAM_FACTS: readonly OptionSpec[] = [
  filter("asset_id", "id", "exactly this AI system, or several separated by commas"),
  filter(
    "event_type",
    "type",
    "exactly this type, or a group such as 'decision.*'; several separated by commas",
  ),
  { ...filter("risk_tier", "tier", "exactly this tier"), choices: RISK_TIERS },
];

export const STREAM_FILTER_OPTIONS: readonly OptionSpec[] = andNot(STREAM_FACTS);

export const EVENT_FILTER_OPTIONS: readonly OptionSpec[] = [
  filter("q", "words", "full text: events in which all words occur; 'credit*' finds what begins so"),
  ...andNot([
    ...STREAM_FACTS,
    filter("legal_basis", "name", "events that name this legal basis"),
    filter("correlation_id", "id", "exactly this group of events"),
    filter("subject_hash", "hash", "the person concerned, as sha256:…"),
    filter("trace_id", "id", "exactly this trace"),
  ]),
  {
    ...filter("tag", "key=value", "events with this tag"),
    isRepeatable: true,
    complaint: tagComplaint,
  },
  filter("from", "time", "at or after this time, such as 2026-11-20T10:00:00Z"),
  filter("to", "time", "before this time"),
  {
    ...filter("time_field", "field", "which time --from and --to mean; default timestamp"),
    choices: ["timestamp", "received_at"],
  },
];

/** Waits until the service shows an event that was just sent. */
export const MIN_SEQUENCE_OPTION: OptionSpec = option(
  "--min-sequence",
  "number",
  "wait until this event can be read; the number is in the answer to sending it",
  { complaint: integerComplaint({ min: 0 }) },
);

const member =
  (name: string) =>
  ({ event }: JsonRecord): string =>
    shown(asRecord(event)?.[name]);

export const EVENT_COLUMNS: readonly Column<JsonRecord>[] = [
  { title: "SEQ", value: ({ sequence }) => shown(sequence), isRight: true, widthExpected: 6 },
  { title: "TIMESTAMP", value: member("timestamp"), widthExpected: 20 },
  { title: "TYPE", value: member("event_type"), widthExpected: 32 },
  { title: "ASSET", value: member("asset_id") },
  { title: "EVENT_ID", value: member("event_id"), isId: true },
];
