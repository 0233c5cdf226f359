/** The output of commands: a document for programs, or text for people. Failures go to standard error, everything else to standard output. */
import { printable } from "../runtime/printable.ts";
import { wrappedLines } from "../runtime/text-width.ts";
import type { Input } from "./command.ts";
import type { Context, Writer } from "./context.ts";
import type { FailureDocument } from "./failure.ts";
import { asRecord, asRecords, type JsonRecord } from "./json.ts";
import { cellText, createTable, detailLines } from "./table.ts";

/** With --json the data as one document, or an answer of the API as it was received; otherwise what `text` returns. */
export const printAnswer = (
  { out }: Context,
  input: Input,
  answer: { readonly data: unknown } | { readonly received: string },
  text: () => string,
): Promise<void> => {
  if (!input.isSet("--json")) return out.write(text());
  return out.write(`${"received" in answer ? answer.received : JSON.stringify(answer)}\n`);
};

/** Reports a problem that does not stop the command: on standard error, with --json as a line of JSON like everything there. */
export const tellNotice = async (
  { err }: Context,
  input: Input,
  { code, message }: { readonly code: "retrying" | "connecting_again"; readonly message: string },
): Promise<void> => {
  await err.write(
    input.isSet("--json") ? `${JSON.stringify({ code, message })}\n` : `prooftrail: ${printable(message)}\n`,
  );
};

export const tableColumns = ({ isTerminal, columns }: Writer): number | undefined =>
  isTerminal ? columns : undefined;

export const tableText = <Row extends object>(
  { out }: Context,
  columns: readonly (keyof Row & string)[],
  rows: readonly Row[],
): string => createTable<Row>(columns, tableColumns(out))(rows);

/** A thing of the API: its members, and those that are lists of things as tables, of which `tables` names the columns. */
export const recordText = (
  context: Context,
  record: JsonRecord,
  tables: Readonly<Record<string, readonly string[]>> = {},
): string => {
  const details = Object.entries(record).map(
    ([name, value]) => [name, asRecords(value).length > 0 ? "" : cellText(name, value)] as const,
  );
  const parts = Object.entries(tables).flatMap(([name, columns]) => {
    // What a table shows of an event stands inside it.
    const rows = asRecords(record[name]).map((row) => ({ ...asRecord(row.event), ...row }));
    const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`.replaceAll("_", " ");
    return rows.length === 0 ? [] : [`\n${title}\n${tableText(context, columns, rows)}`];
  });
  return [detailLines(details, tableColumns(context.out)), ...parts].join("");
};

const COLOURS = { red: 31, green: 32, yellow: 33, bold: 1 } as const;

export const coloured = ({ hasColour }: Writer, colour: keyof typeof COLOURS, text: string): string =>
  hasColour ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;

export const failureText = (err: Writer, document: FailureDocument): string => {
  const { title, detail, errors = [], request_id, advice } = document;
  const width = (tableColumns(err) ?? Number.POSITIVE_INFINITY) - INDENT.length;
  const lines = [
    ...detail.split("\n").map(printable),
    ...errors.map(
      ({ path, code, message }) => `${placeText(path)}: ${printable(message)} (${printable(code)})`,
    ),
    ...(request_id === undefined ? [] : [`request_id ${printable(request_id)}`]),
    ...(advice === undefined ? [] : advice.split("\n").map((line) => `→ ${printable(line)}`)),
  ].flatMap((line) => wrappedLines(line, width));
  const head = `${coloured(err, "red", "prooftrail:")} ${printable(title)}\n`;
  return head + lines.map((line) => `${INDENT}${line}\n`).join("");
};

const INDENT = "  ";

/** A parameter of the API is the option with the same name. */
const placeText = (path: string): string => {
  const parameter = /^query:([a-z_]+)$/.exec(path)?.[1];
  if (parameter !== undefined) return `--${parameter.replaceAll("_", "-")}`;
  return path === "" ? "the whole" : printable(path);
};
