/**
 * What a projection is: a rule that turns records into rows, without I/O and without a clock, so that the same records
 * give the same rows wherever and however often it runs. runner.ts applies it, registry.ts lists them.
 */
import type { Fact } from "../cases/fact.ts";
import type { EventFacts } from "../event/facts.ts";
import type { Sequence } from "../log/outcome.ts";
import type { LogRecord } from "../log/record.ts";
import type { Row, Table } from "../views/tables.ts";
import type { Snapshot, ViewDefinition, ViewStore, WhichRows, Write } from "../views/view-store.ts";

/** One message of a tenant, and where it stands. */
export interface LogEntry {
  readonly sequence: Sequence;
  readonly tenant: string;
  /** As the log holds it. */
  readonly payload: Uint8Array;
}

/** One record of the log. */
export interface StoredRecord extends Pick<LogEntry, "sequence" | "tenant"> {
  readonly record: LogRecord;
  /** As the event has it. */
  readonly eventId: unknown;
  /** Undefined where a required member is missing or malformed: only what no version of the program would have taken. */
  readonly facts: EventFacts | undefined;
  /** What its case is told; undefined where `facts` is. */
  readonly told: Told | undefined;
}

export interface Told {
  readonly fact: Fact;
  /** Of the nodes that it refers to (cases/nodes.ts). */
  readonly names: readonly string[];
}

/** A row by its primary key, which is of a row that may be none. */
export interface StateKey {
  readonly table: Table;
  readonly key: Row;
  /** Where there is none, the last one before it is meant that differs in the last column of the key alone. */
  readonly which?: WhichRows;
}

/** The rows that `stateKeys` and `furtherKeys` named, as all earlier records left them. */
export interface States {
  get(table: Table, key: Row): Row | undefined;
  /** Whether the row was named, so that it may be asked for. */
  isNamed(table: Table, key: Row): boolean;
  /** All rows that are at hand, named or written by the same group, and have these values in all columns of the key but the last; in any order. */
  known(table: Table, shared: Row): readonly Row[];
}

/** A dead letter: the reason as a code, and a text that does not repeat what the customer sent. */
export interface Rejection {
  readonly sequence: Sequence;
  readonly code: string;
  readonly detail: string;
}

export interface Evolution {
  readonly writes: readonly Write[];
  readonly rejected?: readonly Rejection[];
}

/** Raise `version` with every change of the tables or of what the rows hold: the view is then made again from the log. */
export interface Rule<Taken> extends ViewDefinition {
  /** Tables of the view whose rows are not made of the log. */
  readonly besideLog?: readonly Table[];
  /** Rows that change whenever somebody else changes what `evolve` reads: a commit stands only where they stand as before it read anything. */
  readonly builtOn?: readonly StateKey[];
  /** Takes every record, a first one or not: it has seen a record that the leader took only later. */
  readonly everyRecord?: true;
  /** The rows of EVENTS of all records are at hand, as if `stateKeys` had named them. */
  readonly asksForEvents?: true;
  /** What retention took from the live view goes from the one that was made from the log now, and nothing else. Once: it has everything. */
  expireAlike?(live: Snapshot, made: Pick<ViewStore, "load" | "revise">): Promise<void>;
  stateKeys(taken: readonly Taken[]): readonly StateKey[];
  /** Rows whose keys stand in the rows that are named already. Asked again until nothing new is named. */
  furtherKeys?(states: States, taken: Taken): readonly StateKey[];
  /** Some of them in the order of the log. How they are cut into groups must not show in the rows. */
  evolve(states: States, taken: readonly Taken[]): Evolution;
}

/** What the records say. A message that is none is a dead letter, and may be taken later by a version that understands it. */
export interface RecordProjection extends Rule<StoredRecord> {
  readonly takes?: never;
}

/** What is in the log, understood or not: no version may see more or less of it than another. The tenant is that of the subject. */
export interface EntryProjection extends Rule<LogEntry> {
  readonly takes: "entries";
}

export type Projection = RecordProjection | EntryProjection;
