/**
 * Checks that every record of a bundle is in its place, in the log, and the same in `events.ndjson`. Both files are read in parallel, line by line,
 * so that a problem is reported with the first record that it affects.
 */
import { decodeRecord, isWithinPeriod, type LogRecord } from "../../log/record.ts";
import {
  type CompactRange,
  createCompactRange,
  type Hash,
  leafHash,
  sameHash,
  verifyInclusion,
} from "../rfc6962.ts";
import type { Checkpoint } from "../tlog-checkpoint.ts";
import { DamagedFileError } from "./bundle-files.ts";
import { linesOf, MalformedLineError } from "./lines.ts";
import type { Manifest, RecordPlace } from "./manifest.ts";
import { eventLineOf, parseRecordLine, type RecordLine } from "./record-line.ts";
import { NOT_IN_LOG } from "./trusted-keys.ts";
import type { Finding, FindingCode } from "./verdict.ts";

const RECORDS = "records.ndjson";
const EVENTS = "events.ndjson";

/** Front ends have separate clocks; a larger difference is worth a note. */
const CLOCKS_MS_MAX = 5000;

export type RecordsVerdict =
  | { readonly kind: "found"; readonly counted: CountedRecords }
  | { readonly kind: "broken"; readonly finding: Finding };

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
  /** Over all leaves, if all of them are in the bundle. */
  readonly range: CompactRange;
  readonly notes: string[];
  recordsRead: number;
  eventsRead: number;
  withheld: number;
  newestMs: number;
  first: RecordPlace | undefined;
  last: RecordPlace | undefined;
}

export const verifyRecords = async (parts: {
  readonly manifest: Manifest;
  readonly checkpoint: Checkpoint;
  readonly records: AsyncIterable<Uint8Array>;
  readonly events: AsyncIterable<Uint8Array>;
}): Promise<RecordsVerdict> => {
  const walk: Walk = {
    ...parts,
    range: createCompactRange(),
    notes: [],
    recordsRead: 0,
    eventsRead: 0,
    withheld: 0,
    newestMs: 0,
    first: undefined,
    last: undefined,
  };
  const records = linesOf(parts.records);
  const events = linesOf(parts.events);
  try {
    const finding = await firstBroken(walk, records, events);
    return finding ? { kind: "broken", finding } : { kind: "found", counted: counted(walk) };
  } finally {
    await records.return(undefined);
    await events.return(undefined);
  }
};

const counted = ({ recordsRead, withheld, first, last, notes }: Walk): CountedRecords => ({
  records: recordsRead,
  withheld,
  first,
  last,
  notes,
});

const firstBroken = async (
  walk: Walk,
  records: AsyncIterator<string>,
  events: AsyncIterator<string>,
): Promise<Finding | undefined> => {
  for (;;) {
    const next = await nextLine(walk, RECORDS, records);
    if (typeof next === "object") return next;
    if (next === undefined) break;
    const taken = takeRecord(walk, next);
    if ("code" in taken) return taken;
    const differs = await matchEvent(walk, taken, events);
    if (differs) return differs;
  }
  const surplus = await nextLine(walk, EVENTS, events);
  if (typeof surplus === "object") return surplus;
  return surplus === undefined ? atEnd(walk) : surplusEvent(walk, surplus);
};

/** The next line, undefined at the end, or the reason why it cannot be read. */
const nextLine = async (
  walk: Walk,
  file: typeof RECORDS | typeof EVENTS,
  lines: AsyncIterator<string>,
): Promise<string | undefined | Finding> => {
  try {
    const next = await lines.next();
    if (next.done) return undefined;
    if (file === RECORDS) walk.recordsRead++;
    else walk.eventsRead++;
    return next.value;
  } catch (error) {
    if (!(error instanceof MalformedLineError || error instanceof DamagedFileError)) throw error;
    const { last } = walk;
    const behind = last === undefined ? "" : `; leaf ${last.leaf_index} is the last that was right`;
    return {
      code: error instanceof DamagedFileError ? "damaged_file" : "record_malformed",
      detail: error.message + behind,
      file,
      line: (file === RECORDS ? walk.recordsRead : walk.eventsRead) + 1,
    };
  }
};

/** A record without a problem so far. */
interface Taken {
  readonly line: RecordLine;
  /** Undefined if it is withheld. */
  readonly record: LogRecord | undefined;
}

const takeRecord = (walk: Walk, text: string): Taken | Finding => {
  const { manifest, checkpoint } = walk;
  const line = parseRecordLine(text);
  if (line === undefined)
    return {
      code: "record_malformed",
      detail: "the line is not a record and its proof",
      file: RECORDS,
      line: walk.recordsRead,
    };
  const { leafIndex, leaf } = line;
  const record = leaf.kind === "record" ? decodeRecord(leaf.payload) : undefined;
  const taken: Taken = { line, record };
  const finding = (code: FindingCode, detail: string): Finding => ({ code, detail, ...placeOf(walk, taken) });
  const misplaced = misplacement(walk, line);
  if (misplaced) return { ...finding(...misplaced.says), leafIndex: misplaced.leafIndex };
  if (record && record.tenant !== manifest.tenant)
    return finding("other_tenant", `it is a record of the tenant ${record.tenant}`);
  const hash = leaf.kind === "record" ? leafHash(leaf.payload) : leaf.hash;
  const { size, root } = checkpoint;
  if (!verifyInclusion({ leaf: hash, index: leafIndex, size, proof: line.inclusionProof, root }))
    return finding("not_in_log", NOT_IN_LOG);
  if (leaf.kind === "record" && record === undefined)
    return finding("record_malformed", "the leaf is not a record");
  const misfit = record && misfitOf(manifest, record);
  if (misfit) return finding("outside_filter", misfit);
  remember(walk, taken, hash);
  return taken;
};

/** The part of the filter that a record does not match. Whether it belongs to a case, a decision or a person cannot be seen from the record alone. */
const misfitOf = (
  { asset_id: assetId, asset_ids: several, from, to }: Manifest,
  record: LogRecord,
): string | undefined => {
  const assets = several ?? (assetId === null ? undefined : [assetId]);
  const { asset_id: own } = eventIn(record.eventText) ?? {};
  if (assets !== undefined && !assets.some((each) => each === own))
    return "it is about another asset than the bundle";
  return isWithinPeriod(record, { from, to })
    ? undefined
    : "its event gives itself a time that is not in the bundle's period";
};

const remember = (walk: Walk, { line, record }: Taken, hash: Hash): void => {
  const place = { leaf_index: line.leafIndex, sequence: line.sequence };
  walk.first ??= place;
  walk.last = place;
  if (walk.manifest.complete_range) walk.range.append(hash);
  if (record === undefined) {
    walk.withheld++;
    return;
  }
  const receivedMs = Date.parse(record.receivedAt);
  const seconds = Math.round((walk.newestMs - receivedMs) / 1000);
  if (receivedMs < walk.newestMs - CLOCKS_MS_MAX && walk.notes.length < NOTES_MAX)
    walk.notes.push(
      `Leaf ${line.leafIndex} says that it was received ${seconds} s before one in front of it. Front ends have clocks of their own.`,
    );
  walk.newestMs = Math.max(walk.newestMs, receivedMs);
};

/** The first few are enough: if a clock is wrong, every record is affected. */
const NOTES_MAX = 10;

/** Checks whether the record is in its place, before its content is checked. */
const misplacement = (
  { manifest, last, recordsRead }: Walk,
  { leafIndex, sequence }: RecordLine,
): { readonly says: readonly [FindingCode, string]; readonly leafIndex: number } | undefined => {
  const due = recordsRead - 1;
  if (last !== undefined && leafIndex === last.leaf_index)
    return { says: ["duplicate_record", "this leaf stands here twice"], leafIndex };
  if (last !== undefined && leafIndex < last.leaf_index)
    return {
      says: ["reordered_record", `it stands behind leaf ${last.leaf_index}, and comes before it`],
      leafIndex,
    };
  if (manifest.complete_range && leafIndex !== due)
    return {
      says: ["missing_record", `leaf ${due} must stand here, and leaf ${leafIndex} does`],
      leafIndex: due,
    };
  if (last !== undefined && sequence <= last.sequence)
    return {
      says: ["reordered_record", `its sequence does not come after ${last.sequence}, the one before it`],
      leafIndex,
    };
  return undefined;
};

const placeOf = ({ recordsRead }: Walk, { line, record }: Taken): Partial<Finding> => {
  const eventId = record && eventIn(record.eventText)?.event_id;
  return {
    file: RECORDS,
    line: recordsRead,
    leafIndex: line.leafIndex,
    sequence: line.sequence,
    ...(typeof eventId === "string" && { eventId }),
  };
};

const matchEvent = async (
  walk: Walk,
  taken: Taken,
  events: AsyncIterator<string>,
): Promise<Finding | undefined> => {
  const { line, record } = taken;
  if (record === undefined) return undefined;
  const said = await nextLine(walk, EVENTS, events);
  if (typeof said === "object") return said;
  if (said === eventLineOf(record, line.sequence)) return undefined;
  return {
    ...placeOf(walk, taken),
    code: "event_differs",
    detail: said === undefined ? "it ends before this record" : "this line is not the event of the record",
    file: EVENTS,
    line: said === undefined ? walk.eventsRead + 1 : walk.eventsRead,
  };
};

const surplusEvent = ({ eventsRead }: Walk, text: string): Finding => {
  const { sequence, event } = eventIn(text) ?? {};
  const id = Object(event).event_id;
  return {
    code: "event_differs",
    detail: "there is no record for this event",
    file: EVENTS,
    line: eventsRead,
    ...(typeof sequence === "number" && { sequence }),
    ...(typeof id === "string" && { eventId: id }),
  };
};

const atEnd = ({ manifest, checkpoint, recordsRead, range }: Walk): Finding | undefined => {
  if (!manifest.complete_range) return undefined;
  if (recordsRead < checkpoint.size)
    return {
      code: "missing_record",
      detail: `leaf ${recordsRead} must stand here, and the file ends`,
      file: RECORDS,
      line: recordsRead + 1,
      leafIndex: recordsRead,
    };
  // This follows from the proofs; it is checked once more because it is what completeness means (RFC 6962 §2.1).
  if (sameHash(range.root(), checkpoint.root)) return undefined;
  return { code: "not_in_log", detail: "the root over all leaves is not the checkpoint's", file: RECORDS };
};

/** The object in a text; undefined if there is none. */
const eventIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    return Object(JSON.parse(text));
  } catch {
    return undefined;
  }
};
