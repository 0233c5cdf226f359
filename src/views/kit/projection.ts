/**
 * A projection: a rule that turns records into rows, without I/O and without a clock, so that the same records give the same rows wherever and
 * however often it runs. apply-batch.ts applies it, registry.ts lists them.
 */
import type { EventFacts } from "../../event/facts.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { LogRecord } from "../../log/record.ts";
import type { Row, Table } from "../store/tables.ts";
import type { Snapshot, ViewDefinition, ViewStore, WhichRows, Write } from "../store/view-store.ts";

/** One message of a tenant, and its sequence. */
export interface LogEntry {
  readonly sequence: Sequence;
  readonly tenant: string;
  /** The payload as the log contains it. */
  readonly payload: Uint8Array;
}

/** One record of the log. */
export interface StoredRecord extends Pick<LogEntry, "sequence" | "tenant"> {
  readonly record: LogRecord;
  /** As the event has it. */
  readonly eventId: unknown;
  /** Undefined if a required member is missing or malformed, which no version of the program would have accepted. */
  readonly facts: EventFacts | undefined;
  /** When the log received it, as text that sorts by time. */
  readonly recorded: string;
}

/** A record that is the first of its event (read-model.ts). */
export interface FirstEvent extends StoredRecord {
  readonly facts: EventFacts;
}

/** The primary key of a row, which may not exist. */
export interface StateKey {
  readonly table: Table;
  readonly key: Row;
  /** If there is no such row, the last row before it that differs only in the last column of the key is meant. */
  readonly which?: WhichRows;
}

/** The rows that `stateKeys` and `furtherKeys` named, as all earlier records left them. */
export interface States {
  get(table: Table, key: Row): Row | undefined;
  /** Whether the row was named, so that it may be read. */
  isNamed(table: Table, key: Row): boolean;
  /** All loaded rows, named or written by the same batch, that have these values in all columns of the key but the last; in any order. */
  known(table: Table, shared: Row): readonly Row[];
}

/** The reason for a dead letter: a code, and a text that does not repeat what the customer sent. */
export interface Rejection {
  readonly sequence: Sequence;
  readonly code: string;
  readonly detail: string;
}

export interface Evolution {
  readonly writes: readonly Write[];
  readonly rejected?: readonly Rejection[];
}

/**
 * Increase `version` with every change of the tables or of the content of rows: the view is then rebuilt from the log. Rows of the earlier version are
 * read meanwhile if their tables have the same columns, so a column whose content changes its form gets another name.
 */
export interface Rule<Taken> extends ViewDefinition {
  /** Tables of the view whose rows are not made from the log. */
  readonly besideLog?: readonly Table[];
  /** Rows that another process may change and that `evolve` reads: a commit is kept only if they are as they were before anything was read. */
  readonly builtOn?: readonly StateKey[];
  /** The rows of EVENTS of all records are loaded, as if `stateKeys` had named them. */
  readonly asksForEvents?: true;
  /** Removes from the rebuilt view exactly what retention removed from the live one. Called once, when the rebuilt view is complete. */
  expireAlike?(live: Snapshot, made: Pick<ViewStore, "load" | "revise">): Promise<void>;
  stateKeys(taken: readonly Taken[]): readonly StateKey[];
  /** Rows whose keys are in rows that were already named. Called again until it names nothing new. */
  furtherKeys?(states: States, taken: Taken): readonly StateKey[];
  /** Takes some records in the order of the log. How they are divided into batches must not affect the rows. */
  evolve(states: States, taken: readonly Taken[]): Evolution;
}

/** Takes records. A message that is no record becomes a dead letter, and may be taken later by a version that understands it. */
export interface RecordProjection extends Rule<StoredRecord> {
  readonly takes?: never;
}

/** Takes the first record of each event; `stateKeys` and `furtherKeys` are also called for records that turn out not to be first ones. */
export interface FirstEventProjection extends Rule<FirstEvent> {
  readonly takes: "first_events";
}

/** Takes messages as they are in the log, understood or not: no version may see more or fewer of them than another. The tenant is that of the subject. */
export interface EntryProjection extends Rule<LogEntry> {
  readonly takes: "entries";
}

export type Projection = RecordProjection | FirstEventProjection | EntryProjection;
