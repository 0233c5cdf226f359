/** Everything that a text index in PostgreSQL holds: all terms in rows of its table, labels also in rows of a second table. */
import { wordsOfAll } from "../event/words.ts";
import { SNAPSHOT_ROWS } from "../limits.ts";
import type { RunSql } from "./postgres-connection.ts";
import { fromStored } from "./stored-rows.ts";
import { type Row, rowInteger, rowText, sqlName, type Value } from "./tables.ts";
import { labelTableName, labelTerm, stretchTerm, type TextIndex, wordTerm } from "./text-index.ts";
import type { IndexWrite } from "./view-store.ts";

export const visitPostgresTerms = async (
  run: RunSql,
  { name }: TextIndex,
  visit: (term: string, sequence: number) => void,
): Promise<void> => {
  const table = sqlName(name);
  const words = pages(run, {
    sql: [
      `SELECT rowid AS sequence, array_to_string(tsvector_to_array(${table}), ' ') AS terms FROM ${table}`,
      "WHERE rowid > $1 ORDER BY rowid LIMIT $2",
    ].join(" "),
    first: [-1],
    placeOf: (row) => [rowInteger(row, "sequence")],
  });
  for await (const row of words) {
    // No term contains a space, and a row that was emptied has an empty text.
    for (const term of rowText(row, "terms").split(" "))
      if (term !== "") visit(term, rowInteger(row, "sequence"));
  }
  const labels = pages(run, {
    sql: [
      `SELECT label, sequence FROM ${sqlName(labelTableName(name))}`,
      "WHERE (label, sequence) > ($1, $2) ORDER BY label, sequence LIMIT $3",
    ].join(" "),
    first: ["", -1],
    placeOf: (row) => [rowText(row, "label"), rowInteger(row, "sequence")],
  });
  for await (const row of labels) visit(labelRowTerm(rowText(row, "label")), rowInteger(row, "sequence"));
};

export const postgresTermsOf = ({ tenant, sequence, texts, labels }: IndexWrite): readonly string[] => {
  const labelTerms = labels.map((label) => labelTerm(tenant, label));
  return [
    ...wordsOfAll(texts).map((word) => wordTerm(tenant, word)),
    ...labelTerms,
    stretchTerm(sequence),
    ...labelTerms.map(labelRowTerm),
  ];
};

/** A row of the table of labels. The space distinguishes it from the label's term beside the words, because no term contains one. */
const labelRowTerm = (label: string): string => `row ${label}`;

/** The statement takes the place after which a page begins, and its number of rows. */
async function* pages(
  run: RunSql,
  options: {
    readonly sql: string;
    readonly first: readonly Value[];
    readonly placeOf: (row: Row) => readonly Value[];
  },
): AsyncGenerator<Row> {
  const { sql, first, placeOf } = options;
  let place: readonly Value[] | undefined = first;
  while (place !== undefined) {
    const { rows }: Awaited<ReturnType<RunSql>> = await run(sql, [...place, SNAPSHOT_ROWS]);
    let last: Row | undefined;
    for (const stored of rows) {
      last = fromStored(stored);
      yield last;
    }
    place = last && rows.length === SNAPSHOT_ROWS ? placeOf(last) : undefined;
  }
}
