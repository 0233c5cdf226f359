/**
 * Applies projections to a group of messages: decodes them once, loads the rows they need in one call per table, and
 * evolves them in order, each seeing what the ones before it wrote. Writes nothing. A record that a projection cannot take
 * becomes a dead letter of that projection and never stops the others.
 */
import { setImmediate as otherWork } from "node:timers/promises";
import { eventFacts, type JsonObject } from "../event/facts.ts";
import { canonicalEventId } from "../event/formats.ts";
import { EVOLVE_MS_PER_TURN, EVOLVE_RECORDS_PER_STEP } from "../limits.ts";
import type { StoredMessage } from "../log/event-log.ts";
import { decodeRecord } from "../log/record.ts";
import { inSlices } from "../views/in-slices.ts";
import type { DeadLetter, ViewStore, Write } from "../views/view-store.ts";
import { eventsKey } from "./first-events.ts";
import { createOverlay, type Overlay } from "./overlay.ts";
import type { Evolution, Projection, Rejection, StateKey, StoredRecord } from "./projection.ts";

export interface Group {
  /** In the order in which they run: one may read the rows of those before it. */
  readonly projections: readonly Projection[];
  readonly messages: readonly StoredMessage[];
  readonly load: ViewStore["load"];
  /** RFC 3339, UTC; dead letters are dated with it. */
  readonly now: string;
}

export interface GroupOutcome {
  readonly writes: readonly Write[];
  readonly deadLetters: readonly DeadLetter[];
}

export const evolveGroup = async ({ projections, messages, load, now }: Group): Promise<GroupOutcome> => {
  const records: StoredRecord[] = [];
  const undecodable: Undecodable[] = [];
  await inSlices(messages, (message) => {
    const decoded = decode(message);
    if (decoded.kind === "decoded") records.push(decoded.stored);
    else undecodable.push(decoded);
  });
  const overlay = createOverlay(load);
  if (projections.some(({ asksForEvents }) => asksForEvents))
    await overlay.fetch(records.flatMap((record) => eventsKey(record) ?? []));
  const lanes = projections.map((projection) => createLane(projection, now));
  for (const lane of lanes) {
    for (const letter of undecodable) lane.reject(letter);
    await lane.prepare(records, overlay);
  }
  let turnEndMs = performance.now() + EVOLVE_MS_PER_TURN;
  for (let start = 0; start < records.length; start += EVOLVE_RECORDS_PER_STEP) {
    const some = records.slice(start, start + EVOLVE_RECORDS_PER_STEP);
    for (const lane of lanes) {
      lane.evolve(some, overlay);
      if (performance.now() < turnEndMs) continue;
      await otherWork();
      turnEndMs = performance.now() + EVOLVE_MS_PER_TURN;
    }
  }
  return { writes: overlay.writes(), deadLetters: lanes.flatMap((lane) => lane.deadLetters) };
};

/** The dead letter of a record whose rows the database refuses. */
export const refusedLetter = (
  projection: string,
  message: StoredMessage,
  detail: string,
  now: string,
): DeadLetter => {
  const decoded = decode(message);
  const rejection = { sequence: message.sequence, code: "row_refused", detail };
  return deadLetter({ projection, rejection, stored: decoded.stored, now });
};

interface Undecodable {
  readonly kind: "undecodable";
  readonly rejection: Rejection;
  readonly stored: undefined;
}
type Decoded = { readonly kind: "decoded"; readonly stored: StoredRecord } | Undecodable;

const decode = ({ sequence, payload }: StoredMessage): Decoded => {
  const undecodable = (detail: string): Undecodable => ({
    kind: "undecodable",
    rejection: { sequence, code: "undecodable", detail },
    stored: undefined,
  });
  const record = decodeRecord(payload);
  if (record === undefined) return undecodable("the message is not a record");
  try {
    // An object: the text of a decoded record begins with a brace.
    const event: JsonObject = JSON.parse(record.eventText);
    const { tenant } = record;
    return { kind: "decoded", stored: { sequence, tenant, record, event, facts: eventFacts(event) } };
  } catch {
    return undecodable("the event is not JSON");
  }
};

/** One projection at work on one group. */
const createLane = (projection: Projection, now: string) => {
  const deadLetters: DeadLetter[] = [];
  /** Records whose keys could not be told: they are not evolved. */
  const refused = new Set<number>();
  const note = (rejection: Rejection, stored?: StoredRecord): void => {
    deadLetters.push(deadLetter({ projection: projection.name, rejection, stored, now }));
  };
  const keysOf = (
    records: readonly StoredRecord[],
    ask: (record: StoredRecord) => readonly StateKey[],
  ): readonly StateKey[] => {
    const keys: StateKey[] = [];
    for (const record of records) {
      try {
        for (const key of ask(record)) keys.push(key);
      } catch (error) {
        refused.add(record.sequence);
        note(thrown(record, error), record);
      }
    }
    return keys;
  };
  /** Without the effect of a record that makes it throw: tried one by one, it shows which. */
  const evolve = (records: readonly StoredRecord[], overlay: Overlay): void => {
    const taken = refused.size === 0 ? records : records.filter(({ sequence }) => !refused.has(sequence));
    if (taken.length === 0) return;
    let evolution: Evolution;
    try {
      evolution = projection.evolve(overlay, taken);
      overlay.apply(evolution.writes);
    } catch (error) {
      const [only, ...others] = taken;
      if (only && others.length === 0) note(thrown(only, error), only);
      else for (const record of taken) evolve([record], overlay);
      return;
    }
    for (const rejection of evolution.rejected ?? []) {
      note(
        rejection,
        taken.find(({ sequence }) => sequence === rejection.sequence),
      );
    }
  };
  return {
    deadLetters,
    evolve,
    reject: ({ rejection }: Undecodable) => note(rejection),
    prepare: async (records: readonly StoredRecord[], overlay: Overlay): Promise<void> => {
      await overlay.fetch(keysOf(records, projection.stateKeys));
      const { furtherKeys } = projection;
      if (!furtherKeys) return;
      // Asked again are those that named something: what they named may lead further.
      for (let asking = records; asking.length > 0; ) {
        const naming = new Set<StoredRecord>();
        const keys = keysOf(asking, (record) => {
          const further = furtherKeys(overlay, record);
          if (further.length > 0) naming.add(record);
          return further;
        });
        await overlay.fetch(keys);
        asking = [...naming];
      }
    },
  };
};

/** Only the name of the error: its message may quote the event, and this goes to the logger too. */
const thrown = ({ sequence }: StoredRecord, error: unknown): Rejection => ({
  sequence,
  code: "projection_failed",
  detail: `the projection threw ${error instanceof Error ? error.name : "no error"}`,
});

const deadLetter = (parts: {
  readonly projection: string;
  readonly rejection: Rejection;
  readonly stored: StoredRecord | undefined;
  readonly now: string;
}): DeadLetter => {
  const { projection, rejection, stored, now } = parts;
  const eventId = stored?.event.event_id;
  return {
    projection,
    sequence: rejection.sequence,
    tenant: stored?.record.tenant ?? null,
    eventId: typeof eventId === "string" ? canonicalEventId(eventId) : null,
    code: rejection.code,
    detail: rejection.detail,
    recordedAt: now,
  };
};
