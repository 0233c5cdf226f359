/** The writes of a commit to text indexes, as few statements, beside those to tables (postgres-writes.ts). */
import { VIEW_STATEMENT_CHARACTERS_MAX, VIEW_STATEMENT_ROWS_MAX } from "../../limits.ts";
import type { Statement } from "./postgres-connection.ts";
import { sqlName } from "./tables.ts";
import { rowTerms, stretchTerm, type TextIndex } from "./text-index.ts";
import type { TextWrite } from "./view-store.ts";

/** The terms of some sequences of one index; null if they are removed. */
export interface TextRun {
  readonly index: TextIndex;
  readonly rows: Map<number, string | null>;
  characters: number;
}

/** If one sequence is written twice, the last write counts. */
export const addTextWrite = (runs: TextRun[], write: TextWrite): void => {
  const { index, sequence } = write;
  const terms = write.kind === "index" ? `${rowTerms(write)} ${stretchTerm(sequence)}`.trimStart() : null;
  const last = runs.findLast((run) => run.index === index);
  const hasRoom =
    last !== undefined &&
    last.rows.size < VIEW_STATEMENT_ROWS_MAX &&
    last.characters < VIEW_STATEMENT_CHARACTERS_MAX;
  const run = hasRoom ? last : { index, rows: new Map<number, string | null>(), characters: 0 };
  if (!hasRoom) runs.push(run);
  run.rows.set(sequence, terms);
  run.characters += terms?.length ?? 0;
};

/** Statements for additions and removals, in any order: no sequence is in both. */
export const textStatements = ({ index, rows }: TextRun): readonly Statement[] => {
  const name = sqlName(index.name);
  const come = [...rows].filter(([, terms]) => terms !== null);
  const go = [...rows].filter(([, terms]) => terms === null);
  const sequencesOf = (some: readonly (readonly [number, unknown])[]): string =>
    `{${some.map(([sequence]) => sequence).join(",")}}`;
  const coming: Statement = {
    sql: [
      `INSERT INTO ${name} (rowid, ${name}) SELECT sequence, array_to_tsvector(string_to_array(terms, ' '))`,
      "FROM unnest($1::bigint[], $2::text[]) AS given (sequence, terms)",
      `ON CONFLICT (rowid) DO UPDATE SET ${name} = excluded.${name}`,
    ].join(" "),
    // Terms contain no character that the text of an array would have to escape.
    params: [sequencesOf(come), `{${come.map(([, terms]) => `"${terms}"`).join(",")}}`],
  };
  const going: Statement = {
    sql: `DELETE FROM ${name} WHERE rowid = ANY ($1::bigint[])`,
    params: [sequencesOf(go)],
  };
  return [...(come.length === 0 ? [] : [coming]), ...(go.length === 0 ? [] : [going])];
};
