/** The writes of a commit to text indexes as few statements, beside those to tables (postgres-writes.ts). */
import { VIEW_STATEMENT_CHARACTERS_MAX, VIEW_STATEMENT_ROWS_MAX } from "../limits.ts";
import { sqlName } from "./tables.ts";
import { type TextIndex, termsText } from "./text-index.ts";
import type { TextWrite } from "./view-store.ts";

/** What becomes of some sequences of one index: their terms, or null where they go. */
export interface TextRun {
  readonly index: TextIndex;
  readonly rows: Map<number, string | null>;
  characters: number;
}

/** Of two writes to one sequence the last counts. */
export const addTextWrite = (runs: TextRun[], write: TextWrite): void => {
  const { index, sequence } = write;
  const terms = write.kind === "index" ? termsText(write.tenant, write.words) : null;
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

/** Takes sequences and their terms: one statement for what comes and what goes. */
export const textStatement = ({ index, rows }: TextRun): { sql: string; params: readonly string[] } => {
  const name = sqlName(index.name);
  return {
    sql: [
      "WITH given AS (SELECT * FROM unnest($1::bigint[], $2::text[]) AS given (sequence, terms)),",
      `gone AS (DELETE FROM ${name} stored USING given WHERE stored.rowid = given.sequence AND given.terms IS NULL)`,
      `INSERT INTO ${name} (rowid, ${name})`,
      "SELECT sequence, array_to_tsvector(string_to_array(terms, ' ')) FROM given WHERE terms IS NOT NULL",
      `ON CONFLICT (rowid) DO UPDATE SET ${name} = excluded.${name}`,
    ].join(" "),
    // Terms have no character that an array's text would have to escape.
    params: [
      `{${[...rows.keys()].join(",")}}`,
      `{${[...rows.values()].map((terms) => (terms === null ? "NULL" : `"${terms}"`)).join(",")}}`,
    ],
  };
};
