/** The rows that projections make of messages, without a database: given, when, then. */
import type { StoredMessage } from "../../src/log/event-log.ts";
import { applyBatch } from "../../src/views/kit/apply-batch.ts";
import type { Projection } from "../../src/views/kit/projection.ts";
import { keyText, type Row, type Table } from "../../src/views/store/tables.ts";
import {
  type DeadLetter,
  isTextWrite,
  type ViewStore,
  type Write,
} from "../../src/views/store/view-store.ts";

export interface InMemoryView {
  /** Takes the messages as one group. */
  take(messages: readonly StoredMessage[]): Promise<readonly DeadLetter[]>;
  /** Rows in the order of their keys. */
  rows(table: Table): readonly Row[];
  /** The content of the text indexes, by index and sequence; each word once, in the order of characters. */
  words(): ReadonlyMap<string, readonly string[]>;
  /** The same for labels and times, each as its parts with `=` between them. */
  labels(): ReadonlyMap<string, readonly string[]>;
}

export const createInMemoryView = (...projections: readonly Projection[]): InMemoryView => {
  const stored = new Map<string, { readonly table: Table; readonly row: Row }>();

  const words = new Map<string, readonly string[]>();
  const labels = new Map<string, readonly string[]>();

  const load: ViewStore["load"] = async (table, keys, which = "at") =>
    keys.flatMap((key) => stored.get(keyText(table, key))?.row ?? (which === "at" ? [] : before(table, key)));
  const before = (table: Table, key: Row): readonly Row[] => {
    const last = table.primaryKey.at(-1) ?? "";
    const number = (row: Row): number => Number(row[last]);
    const rows = [...stored.values()].flatMap(({ table: other, row }) =>
      other === table && keyText(table, { ...row, [last]: 0 }) === keyText(table, { ...key, [last]: 0 })
        ? [row]
        : [],
    );
    rows.sort((one, other) => number(one) - number(other));
    return rows.filter((row) => number(row) < number(key)).slice(-1);
  };

  const apply = (write: Write): void => {
    if (isTextWrite(write)) {
      const name = `${write.index.name} ${write.sequence}`;
      words.delete(name);
      labels.delete(name);
      if (write.kind !== "index") return;
      words.set(name, [...new Set(write.words)].sort());
      labels.set(name, [
        ...write.labels.map((parts) => parts.join("=")),
        ...write.times.map(({ name, time }) => `${name}=${time}`),
      ]);
      return;
    }
    const { table } = write;
    if (write.kind === "delete") {
      stored.delete(keyText(table, write.key));
      return;
    }
    const text = keyText(table, write.row);
    const before = write.kind === "add" ? stored.get(text)?.row : undefined;
    const added = Object.entries(before ?? {}).map(([name, value]) =>
      table.primaryKey.includes(name) ? [name, value] : [name, Number(value) + Number(write.row[name])],
    );
    stored.set(text, { table, row: before ? Object.fromEntries(added) : write.row });
  };

  return {
    take: async (messages) => {
      const { writes, deadLetters } = await applyBatch({
        projections,
        messages,
        load,
        now: "2026-11-20T12:00:00.000Z",
      });
      writes.forEach(apply);
      return deadLetters;
    },
    words: () => words,
    labels: () => labels,
    rows: (table) =>
      [...stored.keys()].sort().flatMap((key) => {
        const found = stored.get(key);
        return found?.table === table ? [found.row] : [];
      }),
  };
};
