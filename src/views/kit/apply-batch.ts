/**
 * Applies projections to a batch of messages: decodes them once, loads the needed rows with one call per table, and evolves the projections in order,
 * each seeing what the ones before it wrote. Writes nothing. A record that a projection cannot take becomes a dead letter of that projection.
 */
import { strict as assert } from "node:assert";
import { tenantOfAudit } from "../../../streams/subjects.ts";
import { eventFacts, readEvent } from "../../event/facts.ts";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import type { StoredMessage } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { decodeRecord } from "../../log/record.ts";
import { createPauses } from "../../runtime/pauses.ts";
import { EVENTS_VIEW } from "../events/tables.ts";
import { type Row, rowInteger, type Table, type Value } from "../store/tables.ts";
import {
  type DeadLetter,
  type Expectation,
  isTextWrite,
  type RowWrite,
  type TextWrite,
  VIEW_REVISIONS,
  VIEWS,
  type ViewStore,
  type Write,
} from "../store/view-store.ts";
import { EVOLVE_MS_PER_TURN } from "./limits.ts";
import type {
  FirstEvent,
  LogEntry,
  Projection,
  Rejection,
  Rule,
  StateKey,
  States,
  StoredRecord,
} from "./projection.ts";
import { eventsKeys, hasFacts, isFirst } from "./read-model.ts";

export interface Batch extends Pick<ViewStore, "load"> {
  /** In the order in which they run: a projection may read the rows of those before it. */
  readonly projections: readonly Projection[];
  readonly messages: readonly StoredMessage[];
  /** RFC 3339, UTC; the date of dead letters. */
  readonly now: string;
}

export interface AppliedBatch {
  readonly writes: readonly Write[];
  readonly deadLetters: readonly DeadLetter[];
  /** Rows as they were before anything else was read. */
  readonly expected: readonly Expectation[];
  /** How far `events` had read, whose rows say which records are first ones. Infinite if nothing depends on it. */
  readonly eventsAt: Sequence;
}

/** A projection threw. Only the name of its error is kept: a message may quote the event. */
export class RuleError extends Error {
  override readonly name = "RuleError";
  readonly projection: string;
  constructor(projection: string, error: unknown) {
    super(`the projection threw ${error instanceof Error ? error.name : "no error"}`);
    this.projection = projection;
  }
}

/** Throws RuleError if a projection throws and there are several messages: one of them causes it. */
export const applyBatch = async (batch: Batch): Promise<AppliedBatch> => {
  const [message, ...others] = batch.messages;
  try {
    return await evolveAll(batch);
  } catch (error) {
    if (!(error instanceof RuleError && message && others.length === 0)) throw error;
    const { projection, message: detail } = error;
    const projections = batch.projections.filter(({ name }) => name !== projection);
    const applied = await applyBatch({ ...batch, projections });
    const letter = letterOf(projection, message, { code: "projection_failed", detail, now: batch.now });
    // The one that leads stands where the batch begins, whether or not it takes the record.
    const eventsAt = projection === EVENTS_VIEW ? Number.POSITIVE_INFINITY : applied.eventsAt;
    return { ...applied, eventsAt, deadLetters: [letter, ...applied.deadLetters] };
  }
};

const evolveAll = async ({ projections, messages, now, load }: Batch): Promise<AppliedBatch> => {
  const asksForEvents = projections.some((projection) => projection.asksForEvents);
  const expected = await loadBuiltOn(projections, asksForEvents, load);
  const isLed = asksForEvents && projections.every(({ name }) => name !== EVENTS_VIEW);
  const eventsAt = isLed ? await eventsPosition(load) : Number.POSITIVE_INFINITY;
  const overlay = createOverlay({ load });
  const decoded = decodeAll(messages);
  const endTurn = createPauses(EVOLVE_MS_PER_TURN);
  await endTurn();
  if (asksForEvents) await overlay.fetch(eventsKeys(decoded.records));
  let firsts: readonly FirstEvent[] | undefined;
  /** Once for all projections, when `events` has its rows. */
  const firstEvents = () => {
    firsts ??= decoded.events.filter((event) => isFirst(overlay, event));
    return firsts;
  };
  const appliers = projections.map((projection) => applierOf(projection, decoded, overlay, firstEvents));
  for (const { prepare } of appliers) await prepare(endTurn);
  const deadLetters: DeadLetter[] = [];
  for (const { name, evolve } of appliers) {
    for (const { sequence, ...reason } of evolve()) {
      const message = messages.find((each) => each.sequence === sequence);
      if (message) deadLetters.push(letterOf(name, message, { ...reason, now }));
    }
    await endTurn();
  }
  return { writes: overlay.writes(), deadLetters, expected, eventsAt };
};

const loadBuiltOn = async (
  projections: readonly Projection[],
  asksForEvents: boolean,
  load: ViewStore["load"],
): Promise<readonly Expectation[]> => {
  const names = new Set(projections.map(({ name }) => name));
  if (asksForEvents) names.add(EVENTS_VIEW);
  const keys = [...names].map((name) => ({ name }));
  const revisions = await load(VIEW_REVISIONS, keys);
  const expected: Expectation[] = keys.map((key) => {
    const row = revisions.find(({ name }) => name === key.name);
    return { table: VIEW_REVISIONS, key, row };
  });
  for (const { table, key } of projections.flatMap(({ builtOn = [] }) => builtOn)) {
    const [row] = await load(table, [key]);
    expected.push({ table, key, row });
  }
  return expected;
};

const eventsPosition = async (load: ViewStore["load"]): Promise<Sequence> => {
  const [row] = await load(VIEWS, [{ name: EVENTS_VIEW }]);
  return row ? rowInteger(row, "position") : 0;
};

/** `events`: records of events, first or not. `nobodys`: messages whose subject names no tenant. */
const decodeAll = (messages: readonly StoredMessage[]) => {
  const [records, entries]: [StoredRecord[], LogEntry[]] = [[], []];
  const [undecodable, nobodys]: [Rejection[], Rejection[]] = [[], []];
  for (const message of messages) {
    const { sequence, subject, payload } = message;
    const decoded = decode(message);
    if (typeof decoded === "string") undecodable.push({ sequence, code: "undecodable", detail: decoded });
    else records.push(decoded);
    const tenant = tenantOfAudit(subject);
    if (tenant !== undefined) entries.push({ sequence, tenant, payload });
    else nobodys.push({ sequence, code: "undecodable", detail: "the subject names no tenant" });
  }
  return { records, events: records.filter(hasFacts), undecodable, entries, nobodys };
};

/** The record, or why the message is none. */
const decode = ({ sequence, payload }: StoredMessage): StoredRecord | string => {
  const record = decodeRecord(payload);
  if (record === undefined) return "the message is not a record";
  try {
    const event = readEvent(record.eventText);
    const [facts, recorded] = [eventFacts(event), timeKey(record.receivedAt)];
    return { sequence, tenant: record.tenant, record, eventId: event.event_id, facts, recorded };
  } catch {
    return "the event is not JSON";
  }
};

/** One projection at work on one batch. */
const applierOf = (
  projection: Projection,
  decoded: ReturnType<typeof decodeAll>,
  overlay: Overlay,
  firstEvents: () => readonly FirstEvent[],
) => {
  const { entries, nobodys, records, events, undecodable } = decoded;
  if (projection.takes === "entries") return createApplier(projection, overlay, entries, nobodys);
  if (projection.takes === undefined) return createApplier(projection, overlay, records, undecodable);
  return createApplier(projection, overlay, events, undecodable, firstEvents);
};

const createApplier = <Taken>(
  rule: Rule<Taken>,
  overlay: Overlay,
  taken: readonly Taken[],
  rejected: readonly Rejection[],
  evolved: () => readonly Taken[] = () => taken,
) => {
  const { name } = rule;
  const ruled = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw new RuleError(name, error);
    }
  };
  return {
    name,
    /** Loads the rows that `evolve` needs. */
    prepare: async (endTurn: () => Promise<void> | undefined): Promise<void> => {
      await overlay.fetch(ruled(() => rule.stateKeys(taken)));
      // Records that named further rows are asked again, because these rows may lead to others.
      for (let asking = rule.furtherKeys ? taken : []; asking.length > 0; ) {
        const keys: StateKey[] = [];
        asking = ruled(() =>
          asking.filter((each) => {
            const further = rule.furtherKeys?.(overlay, each) ?? [];
            for (const key of further) keys.push(key);
            return further.length > 0;
          }),
        );
        await overlay.fetch(keys);
        // A long chain of names takes one round for each of them.
        await endTurn();
      }
    },
    /** Returns what the projection does not take. */
    evolve: (): readonly Rejection[] => {
      const some = evolved();
      if (some.length === 0) return rejected;
      return ruled(() => {
        const evolution = rule.evolve(overlay, some);
        overlay.apply(evolution.writes);
        return [...rejected, ...(evolution.rejected ?? [])];
      });
    },
  };
};

/** The dead letter of a record that a projection does not take. */
export const letterOf = (
  projection: string,
  message: StoredMessage,
  { code, detail, now }: { readonly code: string; readonly detail: string; readonly now: string },
): DeadLetter => {
  const decoded = decode(message);
  const origin: Partial<StoredRecord> = typeof decoded === "string" ? {} : decoded;
  const { tenant = null, eventId } = origin;
  return {
    ...{ projection, sequence: message.sequence, code, detail },
    tenant,
    eventId: typeof eventId === "string" ? canonicalEventId(eventId) : null,
    recordedAt: now,
  };
};

/** The rows that a batch of records works on: as loaded, overlaid with what the batch has written so far. */
interface Overlay extends States {
  /** Loads what is not loaded yet: one call of `load` per table, however many records need rows. */
  fetch(stateKeys: readonly StateKey[]): Promise<void>;
  /** If it throws, the overlay is of no more use. */
  apply(writes: readonly Write[]): void;
  /** The changes of the batch: one write per row, however often it was written. */
  writes(): readonly Write[];
}

/** What is known of one key, or of the keys that begin with the same values: one text as the key would have to be made and hashed at each look. */
interface Place {
  /** By the value of the next column of the key. */
  below: Map<Value | undefined, Place> | undefined;
  /** Whether the row was loaded, or written whole: one that is only added to is not known. */
  isKnown: boolean;
  row: Row | undefined;
  /** The write that is needed for it. */
  write: RowWrite | undefined;
  /** The row of `write` if it is a sum: nobody else refers to it, so more is added in place. */
  sum: Record<string, Value> | undefined;
}

const newPlace = (): Place => ({
  below: undefined,
  isKnown: false,
  row: undefined,
  write: undefined,
  sum: undefined,
});

const placeBelow = (place: Place, value: Value | undefined): Place => {
  place.below ??= new Map();
  const known = place.below.get(value);
  if (known) return known;
  const made = newPlace();
  place.below.set(value, made);
  return made;
};

interface Known {
  readonly top: Place;
  readonly written: Place[];
}

const createOverlay = ({ load }: Pick<ViewStore, "load">): Overlay => {
  const tables = new Map<Table, Known>();
  /** In the order in which they were written: if one sequence is written twice, the store keeps the last. */
  const texts: TextWrite[] = [];

  const knownOf = (table: Table): Known => {
    const known = tables.get(table) ?? { top: newPlace(), written: [] };
    if (known.top.below === undefined) tables.set(table, known);
    return known;
  };
  const find = (table: Table, key: Row): Place | undefined => {
    let place: Place | undefined = knownOf(table).top;
    for (const name of table.primaryKey) place = place?.below?.get(key[name]);
    return place;
  };
  const reach = (table: Table, key: Row): Place => {
    let place = knownOf(table).top;
    for (const name of table.primaryKey) place = placeBelow(place, key[name]);
    return place;
  };

  return {
    fetch: async (stateKeys) => {
      const wanted = { at: new Map<Table, Row[]>(), at_or_before: new Map<Table, Row[]>() };
      for (const { table, key, which = "at" } of stateKeys) {
        const place = reach(table, key);
        if (place.isKnown) continue;
        place.isKnown = which === "at";
        const keys = wanted[which].get(table);
        if (keys) keys.push(key);
        else wanted[which].set(table, [key]);
      }
      for (const [table, keys] of wanted.at)
        for (const row of await load(table, keys)) reach(table, row).row = row;
      for (const [table, keys] of wanted.at_or_before) {
        for (const row of await load(table, keys, "at_or_before")) learn(reach(table, row), row);
        for (const key of keys) learn(reach(table, key), undefined);
      }
    },
    isNamed: (table, key) => find(table, key)?.isKnown === true,
    get: (table, key) => {
      const place = find(table, key);
      assert(place?.isKnown, "a projection reads only rows that it named or that this batch wrote");
      return place.row;
    },
    known: (table, shared) => {
      let place: Place | undefined = knownOf(table).top;
      for (const name of table.primaryKey.slice(0, -1)) place = place?.below?.get(shared[name]);
      return [...(place?.below?.values() ?? [])].map(({ row }) => row).filter((row) => row !== undefined);
    },
    apply: (writes) => {
      for (const write of writes) {
        if (isTextWrite(write)) {
          texts.push(write);
          continue;
        }
        const place = reach(write.table, write.kind === "delete" ? write.key : write.row);
        if (write.kind === "add")
          assert(!place.isKnown, "a row that is added to is not read by the same projection");
        if (place.write === undefined) {
          if (write.kind === "insert") assert(place.row === undefined, "an inserted row is new");
          knownOf(write.table).written.push(place);
        }
        change(place, write);
      }
    },
    writes: () => [
      ...[...tables.values()].flatMap(({ written }) => written.flatMap(({ write }) => write ?? [])),
      ...texts,
    ],
  };
};

/** A row that the batch has already written there is newer. */
const learn = (place: Place, row: Row | undefined): void => {
  if (place.isKnown) return;
  place.isKnown = true;
  place.row = row;
};

const change = (place: Place, write: RowWrite): void => {
  const before = place.write;
  if (write.kind === "add") {
    if (before?.kind === "add") addTo(place, before.row, write);
    else place.write = write;
    return;
  }
  const row = write.kind === "delete" ? undefined : write.row;
  // A row that was searched for and not found is new; one that was new for the batch stays new for the database, unless it was deleted again.
  const isNew = before ? before.kind === "insert" : place.isKnown && place.row === undefined;
  place.write = row && isNew ? { kind: "insert", table: write.table, row } : write;
  place.isKnown = true;
  place.row = row;
};

const addTo = (place: Place, before: Row, { table, row }: RowWrite & { kind: "add" }): void => {
  let { sum } = place;
  if (sum === undefined) {
    sum = { ...before };
    place.sum = sum;
    place.write = { kind: "add", table, row: sum };
  }
  for (const name in row) {
    if (row[name] === 0 || table.primaryKey.includes(name)) continue;
    sum[name] = rowInteger(sum, name) + rowInteger(row, name);
  }
};
