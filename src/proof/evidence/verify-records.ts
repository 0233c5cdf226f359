/**
 * Checks that every record of a bundle is in its place, in the log, and the same in `events.ndjson`. Both files are read in parallel, line by line,
 * so that a problem is reported with the first affected record.
 */
import { decodeRecord, isWithinPeriod, type LogRecord } from "../../log/record.ts";
import { leafHash, verifyInclusion } from "../rfc6962.ts";
import type { Checkpoint } from "../tlog-checkpoint.ts";
import { DamagedFileError } from "./bundle-files.ts";
import { type Manifest, membersIn, type RecordPlace } from "./manifest.ts";
import { eventLineOf, parseRecordLine, type RecordLine } from "./record-line.ts";
import { NOT_IN_LOG } from "./trusted.ts";
import { type FindingCode, fail, type Place } from "./verdict.ts";

const RECORDS = "records.ndjson";
const EVENTS = "events.ndjson";

export interface CountedRecords {
  readonly records: number;
  readonly withheld: number;
  readonly first: RecordPlace | undefined;
  readonly last: RecordPlace | undefined;
  readonly notes: readonly string[];
}

interface Walk {
  readonly manifest: Manifest;
  readonly checkpoint: Checkpoint;
  readonly records: AsyncIterable<Uint8Array>;
  readonly events: AsyncIterable<Uint8Array>;
}

export const verifyRecords = async (walk: Walk): Promise<CountedRecords> => {
  const { manifest, checkpoint } = walk;
  const places = createPlaces(manifest);
  const clocks = createClocks();
  const events = linesIn(EVENTS, walk.events, places.last);
  let [records, withheld, read] = [0, 0, 0];
  try {
    for await (const text of linesIn(RECORDS, walk.records, places.last)) {
      const at = { file: RECORDS, line: ++records };
      const line =
        parseRecordLine(text) ?? fail("record_malformed", "the line is not a record and its proof", at);
      const record = line.leaf.kind === "record" ? decodeRecord(line.leaf.payload) : undefined;
      const place = { ...at, ...placeOf(line, record) };
      places.take(line, place);
      checkRecord(walk, line, record, place);
      if (record === undefined) {
        withheld++;
        continue;
      }
      clocks.take(line.leafIndex, record);
      const { value: said } = await events.next();
      read++;
      if (said === eventLineOf(record, line.sequence)) continue;
      const detail =
        said === undefined ? "it ends before this record" : "this line is not the event of the record";
      fail("event_differs", detail, { ...place, file: EVENTS, line: read });
    }
    const { value: surplus } = await events.next();
    if (surplus !== undefined) failSurplus(surplus, read + 1);
  } finally {
    // Without `using`, which WebKit lacks.
    await events.return(undefined);
  }
  if (manifest.complete_range && records < checkpoint.size)
    fail("missing_record", `leaf ${records} is missing: the file ends here`, {
      ...{ file: RECORDS, line: records + 1, leafIndex: records },
    });
  return { records, withheld, first: places.first(), last: places.last(), notes: clocks.notes };
};

/** Longer than the longest possible line: a record of 260 KiB in base64, and the hashes of the deepest tree. */
const LINE_CHARACTERS_MAX = 1024 * 1024;

/** Every line ends with a line break, including the last one. What is not UTF-8 becomes U+FFFD, and so neither a record nor its event. */
async function* linesIn(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  last: () => RecordPlace | undefined,
): AsyncGenerator<string, undefined> {
  let line = 1;
  const broken = (code: FindingCode, detail: string): never => {
    const whole = last();
    const behind = whole === undefined ? "" : `; leaf ${whole.leaf_index} is the last intact one`;
    return fail(code, detail + behind, { file, line });
  };
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let rest = "";
  try {
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const text of lines) {
        yield text;
        line++;
      }
      if (rest.length > LINE_CHARACTERS_MAX) broken("record_malformed", "a line is longer than any record");
    }
  } catch (error) {
    if (error instanceof DamagedFileError) broken("damaged_file", error.message);
    throw error;
  }
  if (rest + decoder.decode() !== "") broken("record_malformed", "the last line is cut off");
  return undefined;
}

const placeOf = ({ leafIndex, sequence }: RecordLine, record: LogRecord | undefined): Place => {
  const eventId = record && membersIn(record.eventText).event_id;
  return { leafIndex, sequence, ...(typeof eventId === "string" && { eventId }) };
};

/** Whether each record is in its place, before its content is checked. */
const createPlaces = ({ complete_range }: Manifest) => {
  let [first, last]: (RecordPlace | undefined)[] = [];
  let due = 0;
  return {
    first: () => first,
    last: () => last,
    take: ({ leafIndex, sequence }: RecordLine, place: Place): void => {
      const misplaced = (code: FindingCode, detail: string, leaf = leafIndex): never =>
        fail(code, detail, { ...place, leafIndex: leaf });
      if (leafIndex === last?.leaf_index) misplaced("duplicate_record", "this leaf is listed twice");
      if (last && leafIndex < last.leaf_index)
        misplaced("reordered_record", `it follows leaf ${last.leaf_index}, but belongs before it`);
      if (complete_range && leafIndex !== due)
        misplaced("missing_record", `leaf ${due} is missing: leaf ${leafIndex} is here`, due);
      if (last && sequence <= last.sequence)
        misplaced("reordered_record", `its sequence does not come after ${last.sequence}, the one before it`);
      due++;
      last = { leaf_index: leafIndex, sequence };
      first ??= last;
    },
  };
};

const checkRecord = (
  { manifest, checkpoint }: Pick<Walk, "manifest" | "checkpoint">,
  { leafIndex: index, leaf, inclusionProof: proof }: RecordLine,
  record: LogRecord | undefined,
  place: Place,
): void => {
  const { size, root } = checkpoint;
  if (record && record.tenant !== manifest.tenant)
    fail("other_tenant", `it is a record of tenant ${record.tenant}`, place);
  const hash = leaf.kind === "record" ? leafHash(leaf.payload) : leaf.hash;
  if (!verifyInclusion({ leaf: hash, index, size, proof, root })) fail("not_in_log", NOT_IN_LOG, place);
  if (leaf.kind === "record" && record === undefined)
    fail("record_malformed", "the leaf is not a record", place);
  if (record === undefined) return;
  // Whether it belongs to a case, a decision or a person cannot be seen from the record alone.
  const { asset_id, asset_ids, from, to } = manifest;
  const assets = asset_ids ?? (asset_id === null ? undefined : [asset_id]);
  const own = membersIn(record.eventText).asset_id;
  if (assets?.every((each) => each !== own))
    fail("outside_filter", "it is about an asset outside the filter", place);
  if (!isWithinPeriod(record, { from, to }))
    fail("outside_filter", "its event's timestamp is outside the bundle's period", place);
};

/** Front ends have separate clocks; a larger difference is worth a note. */
const CLOCKS_MS_MAX = 5000;
/** The first few are enough: if a clock is wrong, every record is affected. */
const NOTES_MAX = 10;

const createClocks = () => {
  const notes: string[] = [];
  let newestMs = 0;
  return {
    notes,
    take: (leafIndex: number, { receivedAt }: LogRecord): void => {
      const receivedMs = Date.parse(receivedAt);
      const seconds = Math.round((newestMs - receivedMs) / 1000);
      if (receivedMs < newestMs - CLOCKS_MS_MAX && notes.length < NOTES_MAX)
        notes.push(
          `Leaf ${leafIndex} claims to be received ${seconds} s before an earlier leaf. Front ends have their own clocks.`,
        );
      newestMs = Math.max(newestMs, receivedMs);
    },
  };
};

const failSurplus = (text: string, line: number): never => {
  const { sequence, event } = membersIn(text);
  const id = Object(event).event_id;
  return fail("event_differs", "there is no record for this event", {
    file: EVENTS,
    line,
    ...(typeof sequence === "number" && { sequence }),
    ...(typeof id === "string" && { eventId: id }),
  });
};
