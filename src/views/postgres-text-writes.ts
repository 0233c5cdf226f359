/** The writes of a commit to text indexes, as few statements, beside those to tables (postgres-writes.ts). */
import { VIEW_STATEMENT_CHARACTERS_MAX, VIEW_STATEMENT_ROWS_MAX } from "../limits.ts";
import type { Statement } from "./postgres-connection.ts";
import { sqlName } from "./tables.ts";
import { labelsText, labelTableName, stretchTerm, type TextIndex, termsText } from "./text-index.ts";
import type { TextWrite } from "./view-store.ts";

/** The changes to some sequences of one index. */
export interface TextRun {
  readonly index: TextIndex;
  readonly rows: Map<number, TextRow>;
  characters: number;
}

interface TextRow {
  /** Null if they are removed. */
  readonly terms: string | null;
  readonly labels: string;
}

/** If one sequence is written twice, the last write counts. */
export const addTextWrite = (runs: TextRun[], write: TextWrite): void => {
  const { index, tenant, sequence } = write;
  const labels = labelsText(tenant, write.labels);
  const terms =
    write.kind === "index"
      ? [termsText(tenant, write.words), labels, stretchTerm(sequence)]
          .filter((text) => text !== "")
          .join(" ")
      : null;
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

/** Statements for additions and removals, in any order: no sequence is in both. */
export const textStatements = ({ index, rows }: TextRun): readonly Statement[] => {
  const name = sqlName(index.name);
  const labels = sqlName(labelTableName(index.name));
  const come = [...rows].filter(([, { terms }]) => terms !== null);
  const go = [...rows].filter(([, { terms }]) => terms === null);
  const coming: Statement = {
    sql: [
      "WITH given AS (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given (sequence, labels, terms)),",
      `labelled AS (INSERT INTO ${labels} (label, sequence)`,
      "SELECT unnest(string_to_array(labels, ' ')), sequence FROM given ON CONFLICT DO NOTHING)",
      `INSERT INTO ${name} (rowid, ${name})`,
      "SELECT sequence, array_to_tsvector(string_to_array(terms, ' ')) FROM given",
      `ON CONFLICT (rowid) DO UPDATE SET ${name} = excluded.${name}`,
    ].join(" "),
    params: [...sequencesAndLabels(come), textsOf(come.map(([, { terms }]) => terms ?? ""))],
  };
  const going: Statement = {
    sql: [
      "WITH given AS (SELECT * FROM unnest($1::bigint[], $2::text[]) AS given (sequence, labels)),",
      `gone AS (DELETE FROM ${name} stored USING given WHERE stored.rowid = given.sequence)`,
      `DELETE FROM ${labels} stored USING given, unnest(string_to_array(given.labels, ' ')) AS own`,
      "WHERE stored.label = own AND stored.sequence = given.sequence",
    ].join(" "),
    params: sequencesAndLabels(go),
  };
  return [...(come.length === 0 ? [] : [coming]), ...(go.length === 0 ? [] : [going])];
};

const sequencesAndLabels = (rows: readonly (readonly [number, TextRow])[]): readonly string[] => [
  `{${rows.map(([sequence]) => sequence).join(",")}}`,
  textsOf(rows.map(([, { labels }]) => labels)),
];

/** Terms and labels contain no character that the text of an array would have to escape. */
const textsOf = (texts: readonly string[]): string => `{${texts.map((text) => `"${text}"`).join(",")}}`;
