/** Creates, remakes, replaces and removes views, in one transaction each. */
import type { DatabaseSync } from "node:sqlite";
import type { Statements, Transactions } from "./sqlite-connection.ts";
import { getRow, runWrite, runWrites } from "./sqlite-rows.ts";
import { dropView, makeTables, renameTable } from "./sqlite-tables.ts";
import { newViewRow } from "./stored-rows.ts";
import { type Row, rowInteger } from "./tables.ts";
import { revised, VIEWS, type ViewDefinition, type ViewStore } from "./view-store.ts";

export const createTableChanges = ({
  writer,
  write,
  read,
  transactions,
}: {
  readonly writer: DatabaseSync;
  readonly write: Statements;
  readonly read: Statements;
  readonly transactions: Transactions;
}): Pick<ViewStore, "open" | "replace" | "drop"> => ({
  open: async (view) => {
    // A projector that was paused in a commit holds the lock until it continues; its successor must not fail because of that.
    if (stands(getRow(read, VIEWS, { name: view.name }), view)) return "kept";
    return transactions.run<"made" | "kept" | "made_again">(async () => {
      const known = getRow(write, VIEWS, { name: view.name });
      if (stands(known, view)) return { result: "kept", keep: false };
      if (known) dropView(writer, known);
      makeTables(writer, view);
      runWrite(write, { kind: "upsert", table: VIEWS, row: newViewRow(view) });
      if (known) runWrite(write, revised(view.name));
      return { result: known ? "made_again" : "made", keep: true };
    });
  },
  replace: (replacement) => transactions.run(() => replaceView(writer, write, replacement)),
  drop: (name) =>
    transactions.run(async () => {
      const known = getRow(write, VIEWS, { name });
      if (known) dropView(writer, known);
      runWrite(write, { kind: "delete", table: VIEWS, key: { name } });
      return { result: undefined, keep: known !== undefined };
    }),
});

export const stands = (known: Row | undefined, { version }: ViewDefinition): boolean =>
  known !== undefined && rowInteger(known, "version") === version;

const replaceView = async (
  writer: DatabaseSync,
  statements: Statements,
  { view, by, lagMax, writes = [] }: Parameters<ViewStore["replace"]>[0],
) => {
  const live = getRow(statements, VIEWS, { name: view.name });
  const made = getRow(statements, VIEWS, { name: by.name });
  if (!live || !made) throw new Error(`there is no view ${live ? by.name : view.name}`);
  if (rowInteger(live, "version") !== view.version) throw new Error(`${view.name} is of another version`);
  if (rowInteger(live, "position") - rowInteger(made, "position") > lagMax)
    return { result: "behind", keep: false } as const;
  dropView(writer, live);
  const others = [...by.tables, ...(by.textIndexes ?? [])];
  for (const [index, { name }] of [...view.tables, ...(view.textIndexes ?? [])].entries()) {
    const other = others[index];
    if (other) renameTable(writer, other.name, name);
  }
  writer.prepare("UPDATE dead_letters SET projection = ? WHERE projection = ?").run(view.name, by.name);
  writer.prepare("UPDATE view_ends SET name = ? WHERE name = ?").run(view.name, by.name);
  runWrite(statements, { kind: "delete", table: VIEWS, key: { name: by.name } });
  const row = { ...newViewRow(view), position: rowInteger(made, "position") };
  await runWrites(statements, [{ kind: "upsert", table: VIEWS, row }, revised(view.name), ...writes]);
  return { result: "replaced", keep: true } as const;
};
