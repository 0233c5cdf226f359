/**
 * Applies projections to a batch of messages: decodes them once, loads the needed rows with one call per table, and evolves the projections in order,
 * each seeing what the ones before it wrote. Writes nothing. A record that a projection cannot take becomes a dead letter of that projection and
 * never stops the others.
 */
import { setImmediate as otherWork } from "node:timers/promises";
import { tenantOfAudit } from "../../../streams/subjects.ts";
import { eventFacts } from "../../event/facts.ts";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import { readEvent } from "../../event/read-event.ts";
import type { StoredMessage } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { decodeRecord } from "../../log/record.ts";
import { EVENTS_VIEW } from "../events/tables.ts";
import { rowInteger } from "../store/tables.ts";
import {
  type DeadLetter,
  type Expectation,
  VIEW_REVISIONS,
  VIEWS,
  type ViewStore,
  type Write,
} from "../store/view-store.ts";
import { eventsKeys, hasFacts, isFirst } from "./first-events.ts";
import { EVOLVE_MS_PER_TURN } from "./limits.ts";
import { createOverlay, type Overlay } from "./overlay.ts";
import type {
  FirstEvent,
  LogEntry,
  Projection,
  Rejection,
  Rule,
  StateKey,
  StoredRecord,
} from "./projection.ts";

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

export const applyBatch = async ({ projections, messages, now, load }: Batch): Promise<AppliedBatch> => {
  const asksForEvents = projections.some((projection) => projection.asksForEvents);
  const expected = await loadBuiltOn(projections, asksForEvents, load);
  const isLed = asksForEvents && projections.every(({ name }) => name !== EVENTS_VIEW);
  const eventsAt = isLed ? await eventsPosition(load) : Number.POSITIVE_INFINITY;
  const overlay = createOverlay({ load });
  const decoded = decodeAll(messages);
  let firsts: readonly FirstEvent[] | undefined;
  /** Once for all projections, when `events` has its rows. */
  const firstEvents = () => (firsts ??= decoded.events.filter((event) => isFirst(overlay, event)));
  const shared = { overlay, now, firstEvents };
  const appliers = projections.map((projection) => applierOf(projection, decoded, shared));
  const endTurn = createTurn();
  await endTurn();
  if (asksForEvents) await overlay.fetch(eventsKeys(decoded.records));
  for (const { prepare } of appliers) await prepare(endTurn);
  for (const { evolve } of appliers) {
    evolve();
    await endTurn();
  }
  const deadLetters = appliers.flatMap((applier) => applier.deadLetters);
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

/** Lets requests be answered if the projections have run for long enough. */
const createTurn = (): (() => Promise<void>) => {
  let endMs = performance.now() + EVOLVE_MS_PER_TURN;
  return async () => {
    if (performance.now() < endMs) return;
    await otherWork();
    endMs = performance.now() + EVOLVE_MS_PER_TURN;
  };
};

interface Decoded {
  readonly records: readonly StoredRecord[];
  /** Records of events, first or not. */
  readonly events: readonly FirstEvent[];
  readonly undecodable: readonly Rejection[];
  readonly entries: readonly LogEntry[];
  /** Messages whose subject names no tenant. */
  readonly nobodys: readonly Rejection[];
}

const decodeAll = (messages: readonly StoredMessage[]): Decoded => {
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
interface Applier {
  readonly deadLetters: readonly DeadLetter[];
  /** Loads the rows that `evolve` needs. */
  prepare(endTurn: () => Promise<void>): Promise<void>;
  evolve(): void;
}

const applierOf = (
  projection: Projection,
  { records, events, undecodable, entries, nobodys }: Decoded,
  shared: Pick<Work<never>, "overlay" | "now"> & { readonly firstEvents: () => readonly FirstEvent[] },
): Applier => {
  if (projection.takes === "entries")
    return createApplier(projection, { ...shared, taken: entries, rejected: nobodys });
  if (projection.takes === undefined)
    return createApplier(projection, { ...shared, taken: records, rejected: undecodable });
  const evolved = shared.firstEvents;
  return createApplier(projection, { ...shared, taken: events, rejected: undecodable, evolved });
};

interface Work<Taken> {
  readonly taken: readonly Taken[];
  readonly rejected: readonly Rejection[];
  /** What `evolve` takes of it. */
  readonly evolved?: () => readonly Taken[];
  readonly overlay: Overlay;
  readonly now: string;
}

const createApplier = <Taken extends LetterOrigin & Pick<LogEntry, "sequence">>(
  projection: Rule<Taken>,
  { taken, rejected, evolved = () => taken, overlay, now }: Work<Taken>,
): Applier => {
  const { name, furtherKeys } = projection;
  const deadLetters = rejected.map((rejection) => deadLetter(name, rejection, undefined, now));
  /** Records whose keys could not be determined: they are not evolved. */
  const refused = new Set<Taken>();
  const refuse = (each: Taken, error: unknown): void => {
    refused.add(each);
    // Only the name of the error: its message may quote the event, and this text also goes to the logger.
    const detail = `the projection threw ${error instanceof Error ? error.name : "no error"}`;
    const rejection = { sequence: each.sequence, code: "projection_failed", detail };
    deadLetters.push(deadLetter(name, rejection, each, now));
  };
  /** If the work throws, it is tried record by record; a record that makes it throw has no effect. */
  const attempt = <Result>(some: readonly Taken[], work: (some: readonly Taken[]) => Result): Result[] => {
    try {
      return [work(some)];
    } catch (error) {
      const [only, ...others] = some;
      if (only === undefined) throw error;
      if (others.length > 0) return some.flatMap((each) => attempt([each], work));
      refuse(only, error);
      return [];
    }
  };
  const prepare: Applier["prepare"] = async (endTurn) => {
    await overlay.fetch(attempt(taken, (some) => projection.stateKeys(some)).flat());
    if (!furtherKeys) return;
    // Records that named further rows are asked again, because these rows may lead to others.
    for (let asking = taken; asking.length > 0; ) {
      const naming: Taken[] = [];
      const keys: StateKey[] = [];
      for (const each of asking) {
        try {
          const further = furtherKeys(overlay, each);
          if (further.length === 0) continue;
          naming.push(each);
          keys.push(...further);
        } catch (error) {
          refuse(each, error);
        }
      }
      await overlay.fetch(keys);
      // A long chain of names takes one round for each of them.
      await endTurn();
      asking = naming;
    }
  };
  const evolve = (): void => {
    const some = refused.size === 0 ? evolved() : evolved().filter((each) => !refused.has(each));
    if (some.length === 0) return;
    const evolutions = attempt(some, (each) => {
      const evolution = projection.evolve(overlay, each);
      overlay.apply(evolution.writes);
      return evolution;
    });
    for (const rejection of evolutions.flatMap(({ rejected: found = [] }) => found)) {
      const origin = some.find(({ sequence }) => sequence === rejection.sequence);
      deadLetters.push(deadLetter(name, rejection, origin, now));
    }
  };
  return { deadLetters, prepare, evolve };
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
  return deadLetter(projection, rejection, typeof decoded === "string" ? undefined : decoded, now);
};

/** The tenant and event of a dead letter. */
interface LetterOrigin {
  readonly tenant: string;
  readonly eventId?: unknown;
}

const deadLetter = (
  projection: string,
  rejection: Rejection,
  { tenant, eventId }: Partial<LetterOrigin> = {},
  recordedAt: string,
): DeadLetter => ({
  projection,
  ...rejection,
  tenant: tenant ?? null,
  eventId: typeof eventId === "string" ? canonicalEventId(eventId) : null,
  recordedAt,
});
