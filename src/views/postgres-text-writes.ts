/** The writes of a commit to text indexes as few statements, beside those to tables (postgres-writes.ts). */
import { VIEW_STATEMENT_CHARACTERS_MAX, VIEW_STATEMENT_ROWS_MAX } from "../limits.ts";
import { sqlName } from "./tables.ts";
import { labelsText, labelTableName, type TextIndex, termsText } from "./text-index.ts";
import type { TextWrite } from "./view-store.ts";

/** What becomes of some sequences of one index. */
export interface TextRun {
  readonly index: TextIndex;
  readonly rows: Map<number, TextRow>;
  characters: number;
}

interface TextRow {
  /** Null where they go. */
  readonly terms: string | null;
  readonly labels: string;
}

/** Of two writes to one sequence the last counts. */
export const addTextWrite = (runs: TextRun[], write: TextWrite): void => {
  const { index, tenant, sequence } = write;
  const terms = write.kind === "index" ? termsText(tenant, write.words) : null;
  const labels = labelsText(tenant, write.labels);
  const last = runs.findLast((run) => run.index === index);
  const hasRoom =
    last !== undefined &&
    last.rows.size < VIEW_STATEMENT_ROWS_MAX &&
    last.characters < VIEW_STATEMENT_CHARACTERS_MAX;
  const run = hasRoom ? last : { index, rows: new Map<number, TextRow>(), characters: 0 };
  if (!hasRoom) runs.push(run);
  run.rows.set(sequence, { terms, labels });
  run.characters += (terms?.length ?? 0) + labels.length;
};

/** Takes sequences, their terms and their labels: one statement for what comes and what goes. */
export const textStatement = ({ index, rows }: TextRun): { sql: string; params: readonly string[] } => {
  const name = sqlName(index.name);
  const labelled = sqlName(labelTableName(index.name));
  const given = [...rows];
  return {
    sql: [
      "WITH given AS (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given (sequence, terms, labels)),",
      "given_label AS (SELECT sequence, terms, label FROM given, unnest(string_to_array(labels, ' ')) AS label),",
      `gone AS (DELETE FROM ${name} stored USING given WHERE stored.rowid = given.sequence AND given.terms IS NULL),`,
      `gone_labels AS (DELETE FROM ${labelled} stored USING given_label given WHERE stored.label = given.label`,
      "AND stored.sequence = given.sequence AND given.terms IS NULL),",
      `new_labels AS (INSERT INTO ${labelled} (label, sequence)`,
      "SELECT label, sequence FROM given_label WHERE terms IS NOT NULL ON CONFLICT DO NOTHING)",
      `INSERT INTO ${name} (rowid, ${name})`,
      "SELECT sequence, array_to_tsvector(string_to_array(terms, ' ')) FROM given WHERE terms IS NOT NULL",
      `ON CONFLICT (rowid) DO UPDATE SET ${name} = excluded.${name}`,
    ].join(" "),
    // Terms and labels have no character that an array's text would have to escape.
    params: [
      `{${given.map(([sequence]) => sequence).join(",")}}`,
      `{${given.map(([, { terms }]) => (terms === null ? "NULL" : `"${terms}"`)).join(",")}}`,
      `{${given.map(([, { labels }]) => `"${labels}"`).join(",")}}`,
    ],
  };
};
