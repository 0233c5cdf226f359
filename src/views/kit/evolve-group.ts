/**
 * Applies projections to a group of messages: decodes them once, loads the needed rows with one call per table, and evolves the projections in order,
 * each seeing what the ones before it wrote. Writes nothing. A record that a projection cannot take becomes a dead letter of that projection and
 * never stops the others.
 */
import { setImmediate as otherWork } from "node:timers/promises";
import { tenantOfAudit } from "../../../streams/subjects.ts";
import { type EventFacts, eventFacts } from "../../event/facts.ts";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import { readEvent } from "../../event/read-event.ts";
import { factOf } from "../../law/cases/fact.ts";
import type { StoredMessage } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { decodeRecord, type LogRecord } from "../../log/record.ts";
import { nodesOf } from "../cases/nodes.ts";
import { EVENTS_VIEW } from "../events/tables.ts";
import {
  type DeadLetter,
  type Expectation,
  VIEW_REVISIONS,
  type ViewStore,
  type Write,
} from "../store/view-store.ts";
import { eventsKeys } from "./first-events.ts";
import { EVOLVE_BYTES_PER_STEP, EVOLVE_MS_PER_TURN, EVOLVE_RECORDS_PER_STEP } from "./limits.ts";
import { createOverlay, type Overlay } from "./overlay.ts";
import type {
  Evolution,
  LogEntry,
  Projection,
  Rejection,
  Rule,
  StateKey,
  StoredRecord,
  Told,
} from "./projection.ts";

export interface Group extends Pick<ViewStore, "load"> {
  /** In the order in which they run: a projection may read the rows of those before it. */
  readonly projections: readonly Projection[];
  readonly messages: readonly StoredMessage[];
  /** RFC 3339, UTC; the date of dead letters. */
  readonly now: string;
}

export interface GroupOutcome {
  readonly writes: readonly Write[];
  readonly deadLetters: readonly DeadLetter[];
  /** Rows as they were before anything else was read. */
  readonly expected: readonly Expectation[];
}

export const evolveGroup = async ({ projections, messages, now, load }: Group): Promise<GroupOutcome> => {
  const expected = await loadBuiltOn(projections, load);
  const overlay = createOverlay({ load });
  const lanes = projections.map((projection) => laneOf(projection, now));
  const asksForEvents = projections.some((projection) => projection.asksForEvents);
  const turn = createTurn();
  // Step by step, so that only the rows of each step stay in memory: garbage collection costs most for what lives longest.
  for (const some of stepsOf(messages)) {
    const decoded = decodeAll(some);
    const { records } = decoded;
    await turn.ended();
    if (asksForEvents) await overlay.fetch(eventsKeys(records));
    for (const lane of lanes) await lane.prepare(decoded, overlay, turn);
    for (const lane of lanes) {
      lane.evolve(overlay);
      await turn.ended();
    }
  }
  return { writes: overlay.writes(), deadLetters: lanes.flatMap((lane) => lane.deadLetters), expected };
};

/** The size of a step: a projection takes a step without a pause, and a large event costs hundreds of times as much as a usual one. */
function* stepsOf(messages: readonly StoredMessage[]): Generator<readonly StoredMessage[]> {
  let start = 0;
  let bytes = 0;
  for (const [index, { payload }] of messages.entries()) {
    bytes += payload.byteLength;
    const isFull = index - start === EVOLVE_RECORDS_PER_STEP || bytes > EVOLVE_BYTES_PER_STEP;
    if (!isFull || index === start) continue;
    yield messages.slice(start, index);
    start = index;
    bytes = payload.byteLength;
  }
  if (start < messages.length) yield messages.slice(start);
}

const loadBuiltOn = async (
  projections: readonly Projection[],
  load: ViewStore["load"],
): Promise<readonly Expectation[]> => {
  const names = new Set(projections.map(({ name }) => name));
  if (projections.some(({ asksForEvents }) => asksForEvents)) names.add(EVENTS_VIEW);
  const keys = [...names].map((name) => ({ name }));
  const revisions = await load(VIEW_REVISIONS, keys);
  const expected: Expectation[] = keys.map((key) => ({
    table: VIEW_REVISIONS,
    key,
    row: revisions.find(({ name }) => name === key.name),
  }));
  for (const { table, key } of projections.flatMap(({ builtOn = [] }) => builtOn)) {
    const [row] = await load(table, [key]);
    expected.push({ table, key, row });
  }
  return expected;
};

interface Turn {
  /** Lets requests be answered if the projections have run for long enough. */
  ended(): Promise<void>;
}

const createTurn = (): Turn => {
  let endMs = performance.now() + EVOLVE_MS_PER_TURN;
  return {
    ended: async (): Promise<void> => {
      if (performance.now() < endMs) return;
      await otherWork();
      endMs = performance.now() + EVOLVE_MS_PER_TURN;
    },
  };
};

interface Decoded {
  readonly records: readonly StoredRecord[];
  readonly undecodable: readonly Undecodable[];
  readonly entries: readonly LogEntry[];
  readonly nobodys: readonly Undecodable[];
}

const decodeAll = (messages: readonly StoredMessage[]): Decoded => {
  const records: StoredRecord[] = [];
  const undecodable: Undecodable[] = [];
  const entries: LogEntry[] = [];
  const nobodys: Undecodable[] = [];
  for (const message of messages) {
    const decoded = decode(message);
    if (decoded.kind === "decoded") records.push(decoded.stored);
    else undecodable.push(decoded);
    const { sequence, subject, payload } = message;
    const tenant = tenantOfAudit(subject);
    if (tenant === undefined) nobodys.push(undecodableMessage(sequence, "the subject names no tenant"));
    else entries.push({ sequence, tenant, payload });
  }
  return { records, undecodable, entries, nobodys };
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
  return deadLetter({ projection, rejection, origin: decoded.stored, now });
};

interface Undecodable {
  readonly kind: "undecodable";
  readonly rejection: Rejection;
  readonly stored: undefined;
}
type DecodedMessage = { readonly kind: "decoded"; readonly stored: StoredRecord } | Undecodable;

const undecodableMessage = (sequence: Sequence, detail: string): Undecodable => ({
  kind: "undecodable",
  rejection: { sequence, code: "undecodable", detail },
  stored: undefined,
});

const decode = ({ sequence, payload }: StoredMessage): DecodedMessage => {
  const undecodable = (detail: string): Undecodable => undecodableMessage(sequence, detail);
  const record = decodeRecord(payload);
  if (record === undefined) return undecodable("the message is not a record");
  try {
    const event = readEvent(record.eventText);
    const { tenant } = record;
    const facts = eventFacts(event);
    const told = facts && toldBy(facts, sequence, record);
    return {
      kind: "decoded",
      stored: { sequence, tenant, record, eventId: event.event_id, facts, told },
    };
  } catch {
    return undecodable("the event is not JSON");
  }
};

const toldBy = (facts: EventFacts, sequence: Sequence, { receivedAt }: LogRecord): Told => {
  const fact = factOf(facts, sequence, timeKey(receivedAt));
  return { fact, names: nodesOf(fact) };
};

interface Lane {
  readonly deadLetters: readonly DeadLetter[];
  /** Loads the rows for the step that `evolve` takes next. */
  prepare(decoded: Decoded, overlay: Overlay, turn: Turn): Promise<void>;
  evolve(overlay: Overlay): void;
}

const laneOf = (projection: Projection, now: string): Lane =>
  projection.takes === "entries"
    ? createLane(projection, now, {
        takenOf: ({ entries, nobodys }) => ({ taken: entries, rejected: nobodys }),
        originOf: ({ tenant }) => ({ tenant, eventId: undefined }),
      })
    : createLane(projection, now, {
        takenOf: ({ records, undecodable }) => ({ taken: records, rejected: undecodable }),
        originOf: (record) => record,
      });

interface Ways<Taken> {
  takenOf(decoded: Decoded): { readonly taken: readonly Taken[]; readonly rejected: readonly Undecodable[] };
  originOf(taken: Taken): LetterOrigin;
}

/** One projection at work on one group. */
const createLane = <Taken extends Pick<LogEntry, "sequence">>(
  projection: Rule<Taken>,
  now: string,
  { takenOf, originOf }: Ways<Taken>,
): Lane => {
  const deadLetters: DeadLetter[] = [];
  /** The records that `evolve` takes next. */
  let step: readonly Taken[] = [];
  /** Records whose keys could not be determined: they are not evolved. */
  const refused = new Set<number>();
  const note = (rejection: Rejection, from?: Taken): void => {
    const origin = from && originOf(from);
    deadLetters.push(deadLetter({ projection: projection.name, rejection, origin, now }));
  };
  const refuse = (taken: Taken, error: unknown): void => {
    refused.add(taken.sequence);
    note(thrown(taken, error), taken);
  };
  const stateKeys = (some: readonly Taken[]): readonly StateKey[] => {
    try {
      return projection.stateKeys(some);
    } catch (error) {
      const [only, ...others] = some;
      if (!only || others.length > 0) return some.flatMap((each) => stateKeys([each]));
      refuse(only, error);
      return [];
    }
  };
  const furtherKeys = (states: Overlay, taken: Taken): readonly StateKey[] => {
    try {
      return projection.furtherKeys?.(states, taken) ?? [];
    } catch (error) {
      refuse(taken, error);
      return [];
    }
  };
  /** If the step throws, its records are tried one by one; a record that makes it throw has no effect. */
  const evolve = (some: readonly Taken[], overlay: Overlay): void => {
    const taken = refused.size === 0 ? some : some.filter(({ sequence }) => !refused.has(sequence));
    if (taken.length === 0) return;
    let evolution: Evolution;
    try {
      evolution = projection.evolve(overlay, taken);
      overlay.apply(evolution.writes);
    } catch (error) {
      const [only, ...others] = taken;
      if (only && others.length === 0) note(thrown(only, error), only);
      else for (const each of taken) evolve([each], overlay);
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
    evolve: (overlay) => evolve(step, overlay),
    prepare: async (decoded, overlay, turn): Promise<void> => {
      const { taken, rejected } = takenOf(decoded);
      step = taken;
      for (const { rejection } of rejected) note(rejection);
      await overlay.fetch(stateKeys(taken));
      // Records that named further rows are asked again, because these rows may lead to others.
      for (let asking = projection.furtherKeys ? taken : []; asking.length > 0; ) {
        const naming: Taken[] = [];
        const keys: StateKey[] = [];
        for (const each of asking) {
          const further = furtherKeys(overlay, each);
          if (further.length === 0) continue;
          naming.push(each);
          keys.push(...further);
        }
        await overlay.fetch(keys);
        // A long chain of names takes one round for each of them.
        await turn.ended();
        asking = naming;
      }
    },
  };
};

/** Only the name of the error: its message may quote the event, and this text also goes to the logger. */
const thrown = ({ sequence }: Pick<LogEntry, "sequence">, error: unknown): Rejection => ({
  sequence,
  code: "projection_failed",
  detail: `the projection threw ${error instanceof Error ? error.name : "no error"}`,
});

/** The tenant and event of a dead letter. */
interface LetterOrigin {
  readonly tenant: string;
  readonly eventId: unknown;
}

const deadLetter = (parts: {
  readonly projection: string;
  readonly rejection: Rejection;
  readonly origin: LetterOrigin | undefined;
  readonly now: string;
}): DeadLetter => {
  const { projection, rejection, origin, now } = parts;
  const eventId = origin?.eventId;
  return {
    projection,
    sequence: rejection.sequence,
    tenant: origin?.tenant ?? null,
    eventId: typeof eventId === "string" ? canonicalEventId(eventId) : null,
    code: rejection.code,
    detail: rejection.detail,
    recordedAt: now,
  };
};
