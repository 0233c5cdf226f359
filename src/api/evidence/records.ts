/**
 * The records of a bundle, page by page: what the view shows of them, compared with the leaf that was signed. Where they differ, or where the view
 * has none, the record is read from the log.
 */
import { EVIDENCE_KEPT_BYTES_MAX, EVIDENCE_READS_AT_ONCE } from "../../limits.ts";
import type { LogReader } from "../../log/event-log.ts";
import { decodeRecord, encodeRecord, type LogRecord } from "../../log/record.ts";
import { type Hash, leafHash, sameHash } from "../../proof/rfc6962.ts";
import type { SealedHead } from "../../proof/sealed-head.ts";
import { type StoredEventRow, storedEvent } from "../../views/events/queries.ts";
import { EVENTS } from "../../views/events/tables.ts";
import { rowText } from "../../views/store/tables.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { createProver, type LoadedLeaves } from "../../views/tree/prover.ts";

export interface SelectedRecord {
  readonly sequence: number;
  readonly leafIndex: number;
  /** The views do not show its event, because the event has expired or the record is none. The bundle contains only the hash of its leaf. */
  readonly isWithheld: boolean;
  /** Of its row in the view; undefined if only the log has the record. */
  readonly eventId?: string;
  /** What the row says, if that was kept. */
  readonly stored?: StoredEventRow;
}

export interface StoredRecord extends LogRecord {
  readonly sequence: number;
  readonly payload: Uint8Array;
}

export interface BundleRecord {
  readonly place: SelectedRecord;
  readonly leaf: Hash;
  /** Undefined if it is withheld. */
  readonly stored: StoredRecord | undefined;
}

export interface ProvenRecord extends BundleRecord {
  readonly proof: readonly Hash[];
}

/** A bundle that would not verify is not handed out: something was altered, or the view `tree` must be rebuilt. */
class UnprovableRecordError extends Error {
  override readonly name = "UnprovableRecordError";
}

interface Sources {
  readonly views: Pick<ViewStore, "load">;
  readonly log: Pick<LogReader, "read">;
}

interface Selected {
  readonly tenant: string;
  readonly head: SealedHead;
  readonly records: readonly SelectedRecord[];
}

export const createRecordReader = (sources: Sources, { tenant, head, records }: Selected) => {
  const load = createProver(sources.views, tenant, head);
  const pages = async function* () {
    for (let from = 0; from < records.length; from += EVIDENCE_READS_AT_ONCE) {
      const places = records.slice(from, from + EVIDENCE_READS_AT_ONCE);
      const leaves = await load(places.map(({ leafIndex }) => leafIndex));
      if (leaves === undefined)
        throw new UnprovableRecordError(
          `the tree of ${tenant} is not what was signed: rebuild the view tree`,
        );
      yield { page: await readPage(sources, tenant, places, leaves), leaves };
    }
  };
  /** All of a small bundle, which is then read once. */
  let kept: BundleRecord[] | undefined = [];
  let keptBytes = 0;
  const keep = (record: BundleRecord): void => {
    keptBytes += record.stored?.payload.length ?? 0;
    if (keptBytes > EVIDENCE_KEPT_BYTES_MAX) kept = undefined;
    kept?.push(record);
  };
  return {
    proven: async function* (): AsyncGenerator<readonly ProvenRecord[]> {
      for await (const { page, leaves } of pages()) {
        for (const record of page) keep(record);
        yield page.map((record) => ({ ...record, proof: leaves.proof(record.place.leafIndex) }));
      }
    },
    /** Valid after `proven` has been read. */
    again: async function* (): AsyncGenerator<readonly BundleRecord[]> {
      if (kept) yield kept;
      else for await (const { page } of pages()) yield page;
    },
  };
};

const readPage = async (
  { views, log }: Sources,
  tenant: string,
  places: readonly SelectedRecord[],
  leaves: LoadedLeaves,
): Promise<readonly BundleRecord[]> => {
  const unread = places.filter(({ isWithheld, stored }) => !isWithheld && stored === undefined);
  const rows = await views.load(
    EVENTS,
    unread.flatMap(({ eventId }) => (eventId === undefined ? [] : { tenant, event_id: eventId })),
  );
  const shown = new Map(rows.map((row) => [rowText(row, "event_id"), row]));
  const inView = ({ eventId = "", stored }: SelectedRecord, leaf: Hash): StoredRecord | undefined => {
    const row = shown.get(eventId);
    const event = stored ?? (row && storedEvent(row));
    const record = event && { ...event, payload: Buffer.from(encodeRecord(event)) };
    return record && isLeaf(record, leaf) ? record : undefined;
  };
  const found = places.map((place) => {
    const leaf = leaves.leaf(place.leafIndex);
    return { place, leaf, stored: place.isWithheld ? undefined : inView(place, leaf) };
  });
  const read = async (record: BundleRecord): Promise<BundleRecord> =>
    record.stored || record.place.isWithheld
      ? record
      : { ...record, stored: await inLog(log, record.place, record.leaf) };
  return found.every(({ place, stored }) => stored || place.isWithheld)
    ? found
    : await Promise.all(found.map(read));
};

const isLeaf = ({ payload }: { readonly payload: Uint8Array }, leaf: Hash): boolean =>
  sameHash(leafHash(payload), leaf);

const inLog = async (
  log: Sources["log"],
  { sequence }: SelectedRecord,
  leaf: Hash,
): Promise<StoredRecord> => {
  const message = await log.read(sequence);
  const record = message && isLeaf(message, leaf) ? decodeRecord(message.payload) : undefined;
  if (message === undefined || record === undefined)
    throw new UnprovableRecordError(
      `the log does not hold the record at sequence ${sequence} as it was signed`,
    );
  return { ...record, sequence, payload: message.payload };
};
