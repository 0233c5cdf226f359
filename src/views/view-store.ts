/**
 * Where views live: the port that SQLite and PostgreSQL implement and that one suite tests
 * (test/suites/view-store.ts). Rows and the position they stand for change in one transaction, and only from the
 * position the writer has seen: that is what makes projecting exactly-once, whoever runs it and however often.
 */
import { INTEGER, NULLABLE_TEXT, type Row, type Table, TEXT } from "./tables.ts";
import type { TenantQuery } from "./tenant-query.ts";
import type { Label, NamedTime, TextIndex } from "./text-index.ts";

/** What the store must know about a projection. Another `version` means other rows: the view starts again from nothing. */
export interface ViewDefinition {
  readonly name: string;
  readonly version: number;
  readonly tables: readonly Table[];
  readonly textIndexes?: readonly TextIndex[];
}

export type Write = RowWrite | TextWrite;

export type RowWrite =
  /** The key is new. Where it is not, the whole commit is `unwritable`. */
  | { readonly kind: "insert"; readonly table: Table; readonly row: Row }
  | {
      readonly kind: "upsert";
      readonly table: Table;
      readonly row: Row;
      /** The row is there, and the columns that stand in an index have these values already: a database may leave its indexes alone. */
      readonly indexed?: "same";
      /** Hardly ever is a row there: a database may try to insert it first. */
      readonly isLikelyNew?: true;
    }
  /** The integers beside the key are added to those that stand there; to nothing where there is no such row. Needs nothing but integers there. */
  | { readonly kind: "add"; readonly table: Table; readonly row: Row }
  | { readonly kind: "delete"; readonly table: Table; readonly key: Row };

/**
 * By sequence alone, which is the log's and so belongs to one tenant. The words that a text index held under the sequence before are gone afterwards;
 * `index` puts others in their place. The labels of a sequence are always the same.
 */
export type TextWrite =
  | IndexWrite
  | {
      readonly kind: "unindex";
      readonly index: TextIndex;
      readonly tenant: string;
      readonly sequence: number;
      readonly labels: readonly Label[];
    };

export interface IndexWrite {
  readonly kind: "index";
  readonly index: TextIndex;
  readonly tenant: string;
  readonly sequence: number;
  /** The row is found by their words, as event/words.ts cuts them. */
  readonly texts: readonly string[];
  readonly labels: readonly Label[];
  /** Times of the row as text that sorts, by the name of their column. */
  readonly times: readonly NamedTime[];
}

/** A record that a projection could not take. */
export interface DeadLetter {
  readonly projection: string;
  readonly sequence: number;
  /** Null where the record could not be read so far. */
  readonly tenant: string | null;
  readonly eventId: string | null;
  readonly code: string;
  readonly detail: string;
  /** RFC 3339, UTC. */
  readonly recordedAt: string;
}

export interface ViewCommit {
  /** Those that move; all of them stand at `from`. */
  readonly views: readonly ViewDefinition[];
  /** The position that the writes were computed at. */
  readonly from: number;
  /** Sequence of the last record that they cover. */
  readonly to: number;
  readonly writes: readonly Write[];
  readonly deadLetters: readonly DeadLetter[];
  /** Rows that a revision may have changed since the writes were computed, as they were read. */
  readonly expected?: readonly Expectation[];
  /** Names of views that do not move and whose rows are among the writes: nobody else's commit of them is under way meanwhile. */
  readonly beside?: readonly string[];
}

export type Together = (
  work: (inside: Pick<ViewStore, "load" | "commit">) => Promise<CommitResult>,
) => Promise<CommitResult>;

/** `row` is undefined where there was none. */
export interface Expectation {
  readonly table: Table;
  readonly key: Row;
  readonly row: Row | undefined;
}

export type CommitResult =
  | { readonly kind: "committed" }
  /** Nothing was written: a view stands elsewhere, or has another version. Somebody else writes it. */
  | { readonly kind: "superseded"; readonly view: string; readonly position: number }
  /** Nothing was written: a row stands otherwise than it was read. Computed anew, it may be written. */
  | { readonly kind: "outdated" }
  /** Nothing was written: the database says that a row breaks its table, now and at every retry. */
  | { readonly kind: "unwritable"; readonly detail: string };

/** Rows that change for another reason than a record. No position moves. */
export interface ViewRevision {
  /** Those whose rows change. */
  readonly views: readonly ViewDefinition[];
  /** What the writes build on, as it was read. */
  readonly expected: readonly Expectation[];
  readonly writes: readonly Write[];
}

export type RevisionResult =
  | { readonly kind: "revised" }
  /** Nothing was written: a view has another version, or a row stands otherwise than it was read. */
  | { readonly kind: "outdated" };

export type WhichRows = "at" | "at_or_before";

/** Calls reject where the database fails (disk full, file gone); the same call may then be made again. */
export interface ViewStore extends AsyncDisposable {
  /** Makes the tables, or makes them again, empty, where they are of another version. */
  open(view: ViewDefinition): Promise<"made" | "kept" | "made_again">;
  /** Sequence of the last record that the view has seen; 0 for none. */
  position(viewName: string): Promise<number>;
  /**
   * The rows with these primary keys, as far as they exist, in any order. `at_or_before`: for each key the row with it or, where
   * there is none, the last one before it that differs from it in the last column of the key alone; one may stand there twice.
   */
  load(table: Table, keys: readonly Row[], which?: WhichRows): Promise<readonly Row[]>;
  commit(commit: ViewCommit): Promise<CommitResult>;
  /**
   * Several commits in one transaction, which stands if all of them are committed; then the result is that of the last one. What
   * `work` loads it sees as the ones before have left it, and nobody else does. Undefined where a database does not gain by it.
   */
  readonly together: Together | undefined;
  /** How many records the next commit should take at most: as many as there are, unless its disk is ours and nearly full. */
  recordsMax(): number;
  /** All of it or nothing, and only where every expected row stands as it was read. */
  revise(revision: ViewRevision): Promise<RevisionResult>;
  select(query: TenantQuery): Promise<readonly Row[]>;
  /**
   * Puts the tables of `by` in the place of the view's own, with its position and dead letters, and makes the writes, in one transaction; `by` is gone then. Nothing is done where
   * `by` stands more than `lagMax` records behind the view, or where somebody looks at it just then (`snapshot`): who reads it does not wait for them.
   */
  replace(replacement: {
    readonly view: ViewDefinition;
    readonly by: ViewDefinition;
    readonly lagMax: number;
    readonly writes?: readonly Write[];
    /** As of a commit. */
    readonly beside?: readonly string[];
  }): Promise<"replaced" | "behind" | "in_use">;
  /** Every view there is, also one that is half made or that this version does not know. */
  names(): Promise<readonly string[]>;
  /** Removes the view and its tables, where they are there. */
  drop(viewName: string): Promise<void>;
  /** The terms that a text index of this database has for such a row; one may stand there twice. */
  termsOf(write: IndexWrite): readonly string[];
  /** One state of a view, whoever writes meanwhile, for as long as `visit` looks at it. */
  snapshot<Result>(view: ViewDefinition, visit: (snapshot: Snapshot) => Promise<Result>): Promise<Result>;
  /** Dead letters of all tenants in the order of the log, for the operator: from behind a sequence, at most so many. */
  deadLetters(viewName: string, after: number, rowsMax: number): Promise<readonly Row[]>;
  /**
   * Rejects what waits for a database elsewhere or for another process that holds the file, and what would from now on; what was not committed is undone.
   * To be closed all the same.
   */
  giveUp(): void;
  close(): Promise<void>;
}

export interface Snapshot {
  readonly position: number;
  /** All rows of a table, page by page, in the order of their keys (texts by their bytes). */
  rows(table: Table): AsyncIterable<readonly Row[]>;
  /** As the store's own, of this and every other view: of those whose tables were named none takes another's place meanwhile. */
  load: ViewStore["load"];
  select: ViewStore["select"];
  /** Every term of every row that a text index has, each once, in any order. */
  visitTerms(index: TextIndex, visit: (term: string, sequence: number) => void): Promise<void>;
}

/** How far each projection has read. Kept by the store itself. */
export const VIEWS = {
  name: "views",
  columns: {
    name: TEXT,
    version: INTEGER,
    position: INTEGER,
    /** JSON array of the names of tables and text indexes: a later version may have others, and these must go then. */
    tables: TEXT,
  },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

/**
 * Counts up whenever rows of a view change though it stands where it stood, or others take their place: a dead letter that is
 * taken, a view that was made again. Who has computed with the rows of before does not see it in the position. Kept by the store
 * itself.
 */
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

/**
 * Which record stood where a view stands, when it came there: two logs may both have a record of that sequence. A row of another
 * position says nothing. Written by whoever moves the view; goes and is renamed with the view.
 */
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

/** Where a view has to come before it is read, as long as it is being made. Written by who reads it (projections/made-views.ts). */
export const VIEW_GOALS = {
  name: "view_goals",
  columns: { name: TEXT, position: INTEGER },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

/** Kept by the store itself, so that a dead letter is written in the transaction that steps over its record. */
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
