/**
 * Checks that every record of a bundle is in its place, in the log, and the same in `events.ndjson`. Both files are read in parallel, line by line,
 * so that a problem is reported with the first record that it affects.
 */
import { decodeRecord, isWithinPeriod, type LogRecord } from "../../log/record.ts";
import { createCompactRange, leafHash, sameHash, verifyInclusion } from "../rfc6962.ts";
import type { Checkpoint } from "../tlog-checkpoint.ts";
import { DamagedFileError, linesOf, MalformedLineError } from "./bundle-files.ts";
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
  readonly places: ReturnType<typeof createPlaces>;
  readonly records: ReturnType<typeof linesIn>;
  readonly events: ReturnType<typeof linesIn>;
}

export const verifyRecords = async (parts: {
  readonly manifest: Manifest;
  readonly checkpoint: Checkpoint;
  readonly records: AsyncIterable<Uint8Array>;
  readonly events: AsyncIterable<Uint8Array>;
}): Promise<CountedRecords> => {
  const places = createPlaces(parts.manifest);
  const records = linesIn(RECORDS, parts.records, places.last);
  const events = linesIn(EVENTS, parts.events, places.last);
  try {
    return await walkRecords({ ...parts, places, records, events });
  } finally {
    // Without `using`, which WebKit does not know.
    await records.close();
    await events.close();
  }
};

const walkRecords = async (walk: Walk): Promise<CountedRecords> => {
  const { manifest, checkpoint, places, records, events } = walk;
  const clocks = createClocks();
  /** Over all leaves, if all of them are in the bundle. */
  const range = createCompactRange();
  let withheld = 0;
  for (let text = await records.next(); text !== undefined; text = await records.next()) {
    const at = { file: RECORDS, line: records.count() };
    const line =
      parseRecordLine(text) ?? fail("record_malformed", "the line is not a record and its proof", at);
    const record = line.leaf.kind === "record" ? decodeRecord(line.leaf.payload) : undefined;
    const place = { ...at, ...placeOf(line, record) };
    places.take(line, place);
    const leaf = checkRecord({ manifest, checkpoint, line, record, place });
    if (manifest.complete_range) range.append(leaf);
    if (record === undefined) {
      withheld++;
      continue;
    }
    clocks.take(line.leafIndex, record);
    const said = await events.next();
    if (said === eventLineOf(record, line.sequence)) continue;
    const [detail, number] =
      said === undefined
        ? ["it ends before this record", events.count() + 1]
        : ["this line is not the event of the record", events.count()];
    fail("event_differs", detail, { ...place, file: EVENTS, line: number });
  }
  const surplus = await events.next();
  if (surplus !== undefined) failSurplus(surplus, events.count());
  if (manifest.complete_range && records.count() < checkpoint.size)
    fail("missing_record", `leaf ${records.count()} must stand here, and the file ends`, {
      file: RECORDS,
      line: records.count() + 1,
      leafIndex: records.count(),
    });
  // This follows from the proofs; it is checked once more because it is what completeness means (RFC 6962 §2.1).
  if (manifest.complete_range && !sameHash(range.root(), checkpoint.root))
    fail("not_in_log", "the root over all leaves is not the checkpoint's", { file: RECORDS });
  const { first, last } = places;
  return { records: records.count(), withheld, first: first(), last: last(), notes: clocks.notes };
};

const linesIn = (
  file: typeof RECORDS | typeof EVENTS,
  chunks: AsyncIterable<Uint8Array>,
  last: () => RecordPlace | undefined,
) => {
  const lines = linesOf(chunks);
  let count = 0;
  return {
    count: () => count,
    next: async (): Promise<string | undefined> => {
      try {
        const next = await lines.next();
        if (next.done) return undefined;
        count++;
        return next.value;
      } catch (error) {
        if (!(error instanceof MalformedLineError || error instanceof DamagedFileError)) throw error;
        const code = error instanceof DamagedFileError ? "damaged_file" : "record_malformed";
        const whole = last();
        const behind = whole === undefined ? "" : `; leaf ${whole.leaf_index} is the last that was right`;
        return fail(code, error.message + behind, { file, line: count + 1 });
      }
    },
    close: () => lines.return(undefined),
  };
};

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
      if (leafIndex === last?.leaf_index) misplaced("duplicate_record", "this leaf stands here twice");
      if (last && leafIndex < last.leaf_index)
        misplaced("reordered_record", `it stands behind leaf ${last.leaf_index}, and comes before it`);
      if (complete_range && leafIndex !== due)
        misplaced("missing_record", `leaf ${due} must stand here, and leaf ${leafIndex} does`, due);
      if (last && sequence <= last.sequence)
        misplaced("reordered_record", `its sequence does not come after ${last.sequence}, the one before it`);
      due++;
      last = { leaf_index: leafIndex, sequence };
      first ??= last;
    },
  };
};

/** Returns the hash of the leaf. */
const checkRecord = ({
  manifest,
  checkpoint: { size, root },
  line: { leafIndex: index, leaf, inclusionProof: proof },
  record,
  place,
}: {
  readonly manifest: Manifest;
  readonly checkpoint: Checkpoint;
  readonly line: RecordLine;
  readonly record: LogRecord | undefined;
  readonly place: Place;
}): Uint8Array => {
  if (record && record.tenant !== manifest.tenant)
    fail("other_tenant", `it is a record of the tenant ${record.tenant}`, place);
  const hash = leaf.kind === "record" ? leafHash(leaf.payload) : leaf.hash;
  if (!verifyInclusion({ leaf: hash, index, size, proof, root })) fail("not_in_log", NOT_IN_LOG, place);
  if (leaf.kind === "record" && record === undefined)
    fail("record_malformed", "the leaf is not a record", place);
  if (record === undefined) return hash;
  // Whether it belongs to a case, a decision or a person cannot be seen from the record alone.
  const { asset_id, asset_ids: several, from, to } = manifest;
  const assets = several ?? (asset_id === null ? undefined : [asset_id]);
  const own = membersIn(record.eventText).asset_id;
  if (assets?.every((each) => each !== own))
    fail("outside_filter", "it is about another asset than the bundle", place);
  if (!isWithinPeriod(record, { from, to }))
    fail("outside_filter", "its event gives itself a time that is not in the bundle's period", place);
  return hash;
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
          `Leaf ${leafIndex} says that it was received ${seconds} s before one in front of it. Front ends have clocks of their own.`,
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
