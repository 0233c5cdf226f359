/**
 * Where views are stored: the port that SQLite and PostgreSQL implement and that one suite tests (test/suites/view-store.ts). Rows and the position
 * to which they belong change in one transaction, and only from the position that the writer has seen: that makes projecting exactly-once, whoever
 * runs it and however often.
 */
import { INTEGER, NULLABLE_TEXT, type Row, rowText, type Table, TEXT } from "./tables.ts";
import type { TenantQuery } from "./tenant-query.ts";
import type { Label, NamedTime, TextIndex } from "./text-index.ts";

/** What the store must know about a projection. Another `version` means other rows: the view is rebuilt from nothing. */
export interface ViewDefinition {
  readonly name: string;
  readonly version: number;
  readonly tables: readonly Table[];
  readonly textIndexes?: readonly TextIndex[];
}

export type Write = RowWrite | TextWrite;

export type RowWrite =
  /** The key is new. If it is not, the whole commit is `unwritable`. */
  | { readonly kind: "insert"; readonly table: Table; readonly row: Row }
  | { readonly kind: "upsert"; readonly table: Table; readonly row: Row }
  /** Adds the integers outside the key to those of the row; without such a row it is inserted. The columns outside the key must all be integers. */
  | { readonly kind: "add"; readonly table: Table; readonly row: Row }
  | { readonly kind: "delete"; readonly table: Table; readonly key: Row };

export const isTextWrite = (write: Write): write is TextWrite => "index" in write;

/** What the index held for the sequence, which belongs to one tenant, is removed; `index` replaces it. */
export type TextWrite =
  | IndexWrite
  | { readonly kind: "unindex"; readonly index: TextIndex; readonly sequence: number };

export interface IndexWrite {
  readonly kind: "index";
  readonly index: TextIndex;
  readonly tenant: string;
  readonly sequence: number;
  readonly words: readonly string[];
  readonly labels: readonly Label[];
  readonly times: readonly NamedTime[];
}

/** A record that a projection could not take. */
export interface DeadLetter {
  readonly projection: string;
  readonly sequence: number;
  /** Null if the record could not be read that far. */
  readonly tenant: string | null;
  readonly eventId: string | null;
  readonly code: string;
  readonly detail: string;
  /** RFC 3339, UTC. */
  readonly recordedAt: string;
}

export interface ViewCommit {
  /** The views that advance, all from `from`, at which the writes were computed. */
  readonly views: readonly ViewDefinition[];
  readonly from: number;
  /** The sequence of the last record that they cover. */
  readonly to: number;
  readonly writes: readonly Write[];
  readonly deadLetters: readonly DeadLetter[];
  /** Rows that a revision may have changed since, as they were read. */
  readonly expected?: readonly Expectation[];
  /** Names of views that do not advance but whose rows are among the writes: nobody else may commit to them meanwhile. */
  readonly beside?: readonly string[];
}

/** `row` is undefined if there was none. */
export interface Expectation {
  readonly table: Table;
  readonly key: Row;
  readonly row: Row | undefined;
}

export type CommitResult =
  | { readonly kind: "committed" }
  /** Nothing was written: a view is at another position, or has another version, because another process writes it. */
  | { readonly kind: "superseded"; readonly view: string; readonly position: number }
  /** Nothing was written: a row differs from what was read. The writes must be computed again. */
  | { readonly kind: "outdated" }
  /** Nothing was written: the database refuses a row that violates its table, now and at every retry. */
  | { readonly kind: "unwritable"; readonly detail: string };

/** Changes of rows for another reason than a record. No position changes. */
export interface ViewRevision {
  readonly views: readonly ViewDefinition[];
  readonly expected: readonly Expectation[];
  readonly writes: readonly Write[];
}

export type RevisionResult =
  | { readonly kind: "revised" }
  /** Nothing was written: a view has another version, or a row differs from what was read. */
  | { readonly kind: "outdated" };

export type WhichRows = "at" | "at_or_before";

/** Calls reject if the database fails (disk full, file gone); the same call may then be repeated. */
export interface ViewStore extends AsyncDisposable {
  /** Creates the tables, or recreates them empty if they are of another version. */
  open(view: ViewDefinition): Promise<"made" | "kept" | "rebuilt">;
  /** The sequence of the last record that the view has seen; 0 if there is none. */
  position(viewName: string): Promise<number>;
  /**
   * The existing rows with these primary keys, in any order. `at_or_before`: for each key the row with it or, if there is none, the last row before
   * it that differs only in the last column of the key; a row may be returned twice.
   */
  load(table: Table, keys: readonly Row[], which?: WhichRows): Promise<readonly Row[]>;
  commit(commit: ViewCommit): Promise<CommitResult>;
  /** Writes all or nothing, and only if every expected row is as it was read. */
  revise(revision: ViewRevision): Promise<RevisionResult>;
  select(query: TenantQuery): Promise<readonly Row[]>;
  /**
   * Replaces the view's tables by those of `by`, with their position and dead letters, in one transaction; `by` is gone then.
   * Nothing is done if `by` is more than `lagMax` records behind the view, or if a reader has a snapshot open at that moment: readers of the view
   * must not wait for it. Rejects if the view has another version than `liveVersion`, which is its own by default.
   */
  replace(replacement: {
    readonly view: ViewDefinition;
    readonly by: ViewDefinition;
    readonly liveVersion?: number | undefined;
    readonly lagMax: number;
  }): Promise<"replaced" | "behind" | "in_use">;
  /** Every view that exists, including one that is half made or unknown to this version. */
  names(): Promise<readonly string[]>;
  /** Removes the view and its tables, if they exist. */
  drop(viewName: string): Promise<void>;
  /** One state of a view, whoever writes meanwhile, for as long as `visit` looks at it. */
  snapshot<Result>(view: ViewDefinition, visit: (snapshot: Snapshot) => Promise<Result>): Promise<Result>;
  /** Dead letters of all tenants in the order of the log, for the operator: after a sequence, and at most this many. */
  deadLetters(viewName: string, after: number, rowsMax: number): Promise<readonly Row[]>;
  /**
   * Rejects everything that waits for a remote database or for another process that has locked the file, now and from now on; uncommitted work is
   * rolled back. The store must still be closed.
   */
  giveUp(): void;
  close(): Promise<void>;
}

export interface Snapshot {
  readonly position: number;
  /** All rows of a table, page by page, in the order of their keys (texts by their bytes). */
  rows(table: Table): AsyncIterable<readonly Row[]>;
  /** The same as the store's method, for this and every other view. Views whose tables were named are not replaced meanwhile. */
  load: ViewStore["load"];
  select: ViewStore["select"];
}

/** The position of each projection. Maintained by the store itself. */
export const VIEWS = {
  name: "views",
  columns: {
    name: TEXT,
    version: INTEGER,
    position: INTEGER,
    /** JSON array of the names of tables and text indexes: a later version may have others, and must drop these. */
    tables: TEXT,
  },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

/** Increases whenever rows of a view change without its position, or are replaced: who has computed with the old rows sees it here. */
export const VIEW_REVISIONS = {
  name: "view_revisions",
  columns: { name: TEXT, revisions: INTEGER },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

export const revised = (name: string): RowWrite => ({
  kind: "add",
  table: VIEW_REVISIONS,
  row: { name, revisions: 1 },
});

/** The record at the position of a view, as of its last commit: two logs may both have that sequence. A row with another position means nothing. */
export const VIEW_ENDS = {
  name: "view_ends",
  columns: {
    name: TEXT,
    position: INTEGER,
    /** SHA-256 of its payload, base64url. */
    record: TEXT,
  },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

/** Written in the transaction that steps over the record. */
export const DEAD_LETTERS = {
  name: "dead_letters",
  columns: {
    projection: TEXT,
    sequence: INTEGER,
    tenant: NULLABLE_TEXT,
    event_id: NULLABLE_TEXT,
    code: TEXT,
    detail: TEXT,
    recorded_at: TEXT,
  },
  primaryKey: ["projection", "sequence"],
  indexes: [["tenant", "sequence"]],
} as const satisfies Table;

export const OWN_TABLES: readonly Table[] = [VIEWS, DEAD_LETTERS, VIEW_REVISIONS, VIEW_ENDS];

/** All tables are in the order in which a search reads them (tenant-query.ts). */
export const newViewRow = ({ name, version, tables, textIndexes = [] }: ViewDefinition): Row => ({
  name,
  version,
  position: 0,
  tables: JSON.stringify([...textIndexes, ...tables].map((each) => each.name)),
});

/** The names of the tables with which the view was made, from its row. */
export const tablesIn = (viewRow: Row): readonly string[] => JSON.parse(rowText(viewRow, "tables"));

export const deadLetterWrite = ({ eventId, recordedAt, ...letter }: DeadLetter): Write => ({
  kind: "upsert",
  table: DEAD_LETTERS,
  row: { ...letter, event_id: eventId, recorded_at: recordedAt },
});
