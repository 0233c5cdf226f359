/** Creates, remakes, replaces and removes views, in one transaction each. */
import type { DatabaseSync } from "node:sqlite";
import type { Done } from "./done.ts";
import type { AbsentKeys } from "./sqlite-absent-keys.ts";
import type { Statements, Transactions } from "./sqlite-connection.ts";
import type { LeftoverDropper } from "./sqlite-leftovers.ts";
import { getRow, runWrite, runWrites } from "./sqlite-rows.ts";
import {
  type Before,
  clearPlace,
  dropView,
  isLeftover,
  makeTables,
  remakeTables,
  renameTable,
  viewRowBeside,
} from "./sqlite-tables.ts";
import type { WalMover } from "./sqlite-wal.ts";
import { tablesIn } from "./stored-rows.ts";
import { type Row, rowInteger, rowText } from "./tables.ts";
import { revised, VIEWS, type ViewDefinition, type ViewStore } from "./view-store.ts";

export const createTableChanges = (parts: {
  readonly writer: DatabaseSync;
  readonly write: Statements;
  readonly read: Statements;
  readonly transactions: Transactions;
  readonly wal: Pick<WalMover, "isNarrow">;
  readonly leftovers: Pick<LeftoverDropper, "found" | "drop">;
  readonly absentKeys: Pick<AbsentKeys, "forget">;
}): Pick<ViewStore, "open" | "replace" | "drop"> => {
  const { writer, write, read, transactions, wal, leftovers, absentKeys } = parts;
  /** In one transaction. */
  const change = <Result>(work: () => Promise<Done<Result>>): Promise<Result> =>
    transactions.run(() => {
      absentKeys.forget();
      return work();
    });
  /** If old tables were kept beside the new ones on a nearly full disk, the file might need more space than there is. */
  const before = (): Before => (wal.isNarrow() ? "dropped" : "aside");

  const makeOrKeep = async (view: ViewDefinition) => {
    // A projector that was paused in a commit holds the lock until it continues; its successor must not fail because of that.
    if (stands(getRow(read, VIEWS, { name: view.name }), view)) return "kept";
    return change<"made" | "kept" | "made_again">(async () => {
      const known = getRow(write, VIEWS, { name: view.name });
      if (stands(known, view)) return { result: "kept", keep: false };
      const leftOver = known ? await remakeTables(writer, known, view, before()) : [];
      if (!known) makeTables(writer, view);
      runWrite(write, { kind: "upsert", table: VIEWS, row: viewRowBeside(view, leftOver) });
      if (known) runWrite(write, revised(view.name));
      return { result: known ? "made_again" : "made", keep: true };
    });
  };
  const lookForLeftovers = ({ name }: ViewDefinition): void => {
    const known = getRow(read, VIEWS, { name });
    if (known && tablesIn(known).some(isLeftover)) leftovers.found(name);
  };
  return {
    open: async (view) => {
      const opened = await makeOrKeep(view);
      lookForLeftovers(view);
      return opened;
    },
    replace: async (replacement) => {
      const replaced = await change(() => replaceView(writer, write, replacement, before()));
      lookForLeftovers(replacement.view);
      // The process that asked for it may not advance views, and may end soon.
      await leftovers.drop();
      return replaced;
    },
    drop: (name) => change(async () => dropNamed(writer, write, name)),
  };
};

export const stands = (known: Row | undefined, { version }: ViewDefinition): boolean =>
  known !== undefined && rowInteger(known, "version") === version;

const replaceView = async (
  writer: DatabaseSync,
  statements: Statements,
  { view, by, lagMax, writes = [] }: Parameters<ViewStore["replace"]>[0],
  before: Before,
) => {
  const live = getRow(statements, VIEWS, { name: view.name });
  const made = getRow(statements, VIEWS, { name: by.name });
  if (!live || !made) throw new Error(`there is no view ${live ? by.name : view.name}`);
  if (rowInteger(live, "version") !== view.version) throw new Error(`${view.name} is of another version`);
  if (rowInteger(live, "position") - rowInteger(made, "position") > lagMax)
    return { result: "behind", keep: false } as const;
  const leftOver = await clearPlace(writer, live, before);
  const others = [...by.tables, ...(by.textIndexes ?? [])];
  for (const [index, { name }] of [...view.tables, ...(view.textIndexes ?? [])].entries()) {
    const other = others[index];
    if (other) renameTable(writer, other.name, name);
  }
  writer.prepare("UPDATE dead_letters SET projection = ? WHERE projection = ?").run(view.name, by.name);
  writer.prepare("UPDATE view_ends SET name = ? WHERE name = ?").run(view.name, by.name);
  runWrite(statements, { kind: "delete", table: VIEWS, key: { name: by.name } });
  const row = { ...viewRowBeside(view, leftOver), position: rowInteger(made, "position") };
  await runWrites(statements, [{ kind: "upsert", table: VIEWS, row }, revised(view.name), ...writes]);
  return { result: "replaced", keep: true } as const;
};

const dropNamed = (writer: DatabaseSync, statements: Statements, name: string) => {
  const known = getRow(statements, VIEWS, { name });
  if (known) removeView(writer, known);
  return { result: undefined, keep: known !== undefined };
};

const removeView = (writer: DatabaseSync, view: Row): void => {
  dropView(writer, view);
  writer.prepare("DELETE FROM views WHERE name = ?").run(rowText(view, "name"));
};
