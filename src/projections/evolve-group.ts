/**
 * Applies projections to a group of messages: decodes them once, loads the rows they need in one call per table, and
 * evolves them in order, each seeing what the ones before it wrote. Writes nothing. A record that a projection cannot take
 * becomes a dead letter of that projection and never stops the others.
 */
import { setImmediate as otherWork } from "node:timers/promises";
import { factOf } from "../cases/fact.ts";
import { type EventFacts, eventFacts, type JsonObject } from "../event/facts.ts";
import { canonicalEventId } from "../event/formats.ts";
import { EVOLVE_MS_PER_TURN, EVOLVE_RECORDS_PER_STEP } from "../limits.ts";
import type { StoredMessage } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { decodeRecord } from "../log/record.ts";
import type { DeadLetter, Expectation, ViewStore, Write } from "../views/view-store.ts";
import { nodesOf } from "./cases/nodes.ts";
import { eventsKeys } from "./first-events.ts";
import { createOverlay, type Overlay } from "./overlay.ts";
import type { Evolution, Projection, Rejection, StateKey, StoredRecord, Told } from "./projection.ts";

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
  /** As they stood before anything else was read. */
  readonly expected: readonly Expectation[];
}

export const evolveGroup = async ({ projections, messages, load, now }: Group): Promise<GroupOutcome> => {
  const expected = await loadBuiltOn(projections, load);
  const overlay = createOverlay(load);
  const lanes = projections.map((projection) => createLane(projection, now));
  const asksForEvents = projections.some((projection) => projection.asksForEvents);
  const turn = createTurn();
  // Step by step, so that of a step only its rows stay: what memory holds longest costs the most to keep clean.
  for (let start = 0; start < messages.length; start += EVOLVE_RECORDS_PER_STEP) {
    const some = messages.slice(start, start + EVOLVE_RECORDS_PER_STEP);
    const { records, undecodable } = decodeAll(some);
    await turn.ended();
    if (asksForEvents) await overlay.fetch(eventsKeys(records));
    for (const lane of lanes) {
      for (const letter of undecodable) lane.reject(letter);
      await lane.prepare(records, overlay);
    }
    for (const lane of lanes) {
      lane.evolve(records, overlay);
      await turn.ended();
    }
  }
  return { writes: overlay.writes(), deadLetters: lanes.flatMap((lane) => lane.deadLetters), expected };
};

const loadBuiltOn = async (
  projections: readonly Projection[],
  load: ViewStore["load"],
): Promise<readonly Expectation[]> => {
  const expected: Expectation[] = [];
  for (const { table, key } of projections.flatMap(({ builtOn = [] }) => builtOn)) {
    const [row] = await load(table, [key]);
    expected.push({ table, key, row });
  }
  return expected;
};

/** Lets requests be answered when the projections have gone on for long enough. */
const createTurn = () => {
  let endMs = performance.now() + EVOLVE_MS_PER_TURN;
  return {
    ended: async (): Promise<void> => {
      if (performance.now() < endMs) return;
      await otherWork();
      endMs = performance.now() + EVOLVE_MS_PER_TURN;
    },
  };
};

const decodeAll = (messages: readonly StoredMessage[]) => {
  const records: StoredRecord[] = [];
  const undecodable: Undecodable[] = [];
  for (const message of messages) {
    const decoded = decode(message);
    if (decoded.kind === "decoded") records.push(decoded.stored);
    else undecodable.push(decoded);
  }
  return { records, undecodable };
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
    const facts = eventFacts(event);
    const told = facts && toldBy(facts, sequence);
    return {
      kind: "decoded",
      stored: { sequence, tenant, record, payload, eventId: event.event_id, facts, told },
    };
  } catch {
    return undecodable("the event is not JSON");
  }
};

const toldBy = (facts: EventFacts, sequence: Sequence): Told => {
  const fact = factOf(facts, sequence);
  return { fact, names: nodesOf(fact) };
};

/** One projection at work on one group. */
const createLane = (projection: Projection, now: string) => {
  const deadLetters: DeadLetter[] = [];
  /** Records whose keys could not be told: they are not evolved. */
  const refused = new Set<number>();
  const note = (rejection: Rejection, stored?: StoredRecord): void => {
    deadLetters.push(deadLetter({ projection: projection.name, rejection, stored, now }));
  };
  const refuse = (record: StoredRecord, error: unknown): void => {
    refused.add(record.sequence);
    note(thrown(record, error), record);
  };
  const stateKeys = (records: readonly StoredRecord[]): readonly StateKey[] => {
    try {
      return projection.stateKeys(records);
    } catch (error) {
      const [only, ...others] = records;
      if (!only || others.length > 0) return records.flatMap((record) => stateKeys([record]));
      refuse(only, error);
      return [];
    }
  };
  const furtherKeys = (states: Overlay, record: StoredRecord): readonly StateKey[] => {
    try {
      return projection.furtherKeys?.(states, record) ?? [];
    } catch (error) {
      refuse(record, error);
      return [];
    }
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
      await overlay.fetch(stateKeys(records));
      // Asked again are those that named something: what they named may lead further.
      for (let asking = projection.furtherKeys ? records : []; asking.length > 0; ) {
        const naming: StoredRecord[] = [];
        const keys: StateKey[] = [];
        for (const record of asking) {
          const further = furtherKeys(overlay, record);
          if (further.length === 0) continue;
          naming.push(record);
          keys.push(...further);
        }
        await overlay.fetch(keys);
        asking = naming;
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
  const eventId = stored?.eventId;
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
