/**
 * The records of a bundle, page by page: what the view shows of them, compared with the leaf that was signed. Where they differ, or where the view
 * has none, the record is read from the log.
 */
import { EVIDENCE_READS_AT_ONCE } from "../../limits.ts";
import type { LogReader } from "../../log/event-log.ts";
import { decodeRecord, encodeRecord, type LogRecord } from "../../log/record.ts";
import { type Hash, leafHash, sameHash } from "../../proof/rfc6962.ts";
import type { SealedHead } from "../../proof/sealed-head.ts";
import { type StoredEventRow, storedEvent } from "../../views/events/queries.ts";
import { EVENTS } from "../../views/events/tables.ts";
import { rowText } from "../../views/store/tables.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { createProver } from "../../views/tree/prover.ts";

export interface SelectedRecord {
  readonly sequence: number;
  readonly leafIndex: number;
  /** The views show no event for it: expired, or not an event. The bundle has only the hash of its leaf. */
  readonly isWithheld: boolean;
  /** Of its row in the view; undefined if only the log has the record. */
  readonly eventId?: string;
  /** What the row holds, if it was kept. */
  readonly stored?: StoredEventRow;
}

export interface StoredRecord extends LogRecord {
  readonly sequence: number;
  readonly payload: Uint8Array;
}

export interface ProvenRecord {
  readonly place: SelectedRecord;
  readonly leaf: Hash;
  /** Undefined if it is withheld. */
  readonly stored: StoredRecord | undefined;
  /** Ask before reading the next page. */
  readonly proof: () => readonly Hash[];
}

interface Sources {
  readonly views: Pick<ViewStore, "load">;
  readonly log: Pick<LogReader, "read">;
}

/** Throws where log or tree differ from what was signed: a bundle that would not verify is not handed out. */
export async function* readRecords(
  sources: Sources,
  selected: {
    readonly tenant: string;
    readonly head: SealedHead;
    readonly records: readonly SelectedRecord[];
  },
): AsyncGenerator<readonly ProvenRecord[]> {
  const { tenant, head, records } = selected;
  const load = createProver(sources.views, tenant, head);
  for (let from = 0; from < records.length; from += EVIDENCE_READS_AT_ONCE) {
    const places = records.slice(from, from + EVIDENCE_READS_AT_ONCE);
    const leaves = await load(places.map(({ leafIndex }) => leafIndex));
    if (leaves === undefined)
      throw new Error(`the tree of ${tenant} differs from what was signed: rebuild the view tree`);
    const rows = await rowsOf(sources.views, tenant, places);
    const page: ProvenRecord[] = [];
    const ofLog: Promise<void>[] = [];
    for (const [index, place] of places.entries()) {
      const { sequence, leafIndex, isWithheld, eventId = "" } = place;
      const leaf = leaves.leaf(leafIndex);
      const proof = () => leaves.proof(leafIndex);
      const stored = isWithheld ? undefined : signed(place.stored ?? rows.get(eventId), leaf);
      page.push({ place, leaf, stored, proof });
      if (isWithheld || stored) continue;
      const take = async () => {
        page[index] = { place, leaf, stored: await inLog(sources.log, sequence, leaf), proof };
      };
      ofLog.push(take());
    }
    await Promise.all(ofLog);
    yield page;
  }
}

const rowsOf = async (
  views: Sources["views"],
  tenant: string,
  places: readonly SelectedRecord[],
): Promise<ReadonlyMap<string, StoredEventRow>> => {
  const unread = places.filter(({ isWithheld, stored }) => !isWithheld && stored === undefined);
  const keys = unread.flatMap(({ eventId }) => (eventId === undefined ? [] : { tenant, event_id: eventId }));
  const rows = keys.length === 0 ? [] : await views.load(EVENTS, keys);
  return new Map(rows.map((row) => [rowText(row, "event_id"), storedEvent(row)]));
};

const signed = (event: StoredEventRow | undefined, leaf: Hash): StoredRecord | undefined => {
  if (event === undefined) return undefined;
  const payload = Buffer.from(encodeRecord(event));
  return sameHash(leafHash(payload), leaf) ? { ...event, payload } : undefined;
};

const inLog = async (log: Sources["log"], sequence: number, leaf: Hash): Promise<StoredRecord> => {
  const payload = (await log.read(sequence))?.payload;
  const record = payload && sameHash(leafHash(payload), leaf) ? decodeRecord(payload) : undefined;
  if (payload === undefined || record === undefined)
    throw new Error(`the record at sequence ${sequence} of the log is not what was signed`);
  return { ...record, sequence, payload };
};
