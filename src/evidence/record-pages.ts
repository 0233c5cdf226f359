/** Records by their sequences, some side by side: the log answers one at a time. */
import { EVIDENCE_READS_AT_ONCE } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";

export interface ReadRecord<Place> {
  readonly record: Place;
  /** The record's exact bytes. */
  readonly payload: Uint8Array;
}

/** The log does not hold what its tree says: an alarm. */
export class MissingRecordError extends Error {
  override readonly name = "MissingRecordError";
}

/** In the order that is given. Throws MissingRecordError and LogUnavailableError. */
export async function* recordPages<Place extends { readonly sequence: number }>(
  log: Pick<LogReader, "read">,
  records: readonly Place[],
): AsyncGenerator<readonly ReadRecord<Place>[]> {
  for (let from = 0; from < records.length; from += EVIDENCE_READS_AT_ONCE) {
    const page = records.slice(from, from + EVIDENCE_READS_AT_ONCE);
    yield await Promise.all(
      page.map(async (record) => {
        const message = await log.read(record.sequence);
        if (message === undefined)
          throw new MissingRecordError(`the log has no record at sequence ${record.sequence}`);
        return { record, payload: message.payload };
      }),
    );
  }
}
