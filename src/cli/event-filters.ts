/** Events as the command line asks for them and shows them: filters of the API as options, which a test compares with the API's, and rows. */
import { type OptionSpec, option } from "./command.ts";
import { asRecord, type JsonRecord } from "./json.ts";
import { filterUnder } from "./options.ts";

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

/** The filters of a live stream. */
const STREAM_FACTS: readonly OptionSpec[] = [
  filter("asset_id", "id", "exactly this AI system, or several separated by commas"),
  filter(
    "event_type",
    "type",
    "exactly this type, or a group such as 'decision.*'; several separated by commas",
  ),
  { ...filter("risk_tier", "tier", "exactly this tier"), choices: ["low", "limited", "high", "prohibited"] },
];

export const STREAM_FILTER_OPTIONS: readonly OptionSpec[] = andNot(STREAM_FACTS);

export const EVENT_FILTER_OPTIONS: readonly OptionSpec[] = [
  filter("q", "words", "full text: events in which all words occur; 'credit*' matches a prefix"),
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
    complaint: (text) => (text.indexOf("=") > 0 ? undefined : "Give a tag as key=value."),
  },
  filter("from", "time", "at or after this time, such as 2026-11-20T10:00:00Z"),
  filter("to", "time", "before this time"),
  {
    ...filter("time_field", "field", "which time --from and --to mean; default timestamp"),
    choices: ["timestamp", "received_at"],
  },
];

export const ORDER_OPTION: OptionSpec = option("--order", "order", "newest or oldest first", {
  choices: ["desc", "asc"],
});

export const EVENT_COLUMNS = ["seq", "timestamp", "type", "asset", "event_id"] as const;
/** Of a stream only the first rows are known when the table begins. */
export const EVENT_WIDTHS = { seq: 6, timestamp: 20, type: 32 };

export const eventRow = ({ sequence, event }: JsonRecord) => {
  const { timestamp, event_type, asset_id, event_id } = asRecord(event) ?? {};
  return { seq: sequence, timestamp, type: event_type, asset: asset_id, event_id };
};
