/** Aligned tables. On a terminal their columns wrap; ids are never cut and never broken, because people copy them. Pure. */
import { printable } from "../runtime/printable.ts";
import { padded, textWidth, wrappedCell, wrappedLines } from "../runtime/text-width.ts";
import { shown } from "./json.ts";

/** The value of a member: a time to the second and with a space at which it wraps, yes or no, a list with commas. */
export const cellText = (member: string, value: unknown): string => {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(shown).join(", ");
  return isTime(member) ? shown(value).replace(/T([0-9:]{8})(?:\.[0-9]+)?Z$/, " $1Z") : shown(value);
};

const isTime = (member: string): boolean => /(^|_)at$/.test(member);
const isId = (member: string): boolean => /(^|_)id$/.test(member);
/** `made_at` is MADE, `decision_id` is DECISION. */
const titleOf = (member: string): string =>
  member
    .replace(/_(id|at)$/, "")
    .replaceAll("_", " ")
    .toUpperCase();

const GAP = "  ";
/** No column is made narrower: a date stays whole. */
const WIDTH_MIN = 10;

/**
 * Returns a function that gives the lines of rows; its first call also gives the heading. Columns are the members of that name; their widths follow
 * the first rows, and what is expected of later ones. `terminalColumns` is the width of the terminal; without one each row is one line.
 */
export const createTable = <Row extends object>(
  columns: readonly (keyof Row & string)[],
  terminalColumns: number | undefined,
  widthsExpected: Partial<Record<keyof Row & string, number>> = {},
): ((rows: readonly Row[]) => string) => {
  let widths: readonly number[] | undefined;
  let isRight: readonly boolean[] = [];
  const rowText = (cells: readonly string[]): string => {
    const widthOf = (index: number): number => widths?.[index] ?? 0;
    const parts = cells.map((cell, index) =>
      terminalColumns === undefined || isId(columns[index] ?? "")
        ? [cell]
        : wrappedCell(cell, widthOf(index)),
    );
    const lines = Array.from({ length: Math.max(...parts.map(({ length }) => length)) }, (_, at) =>
      parts.map((part, index) => padded(part[at] ?? "", widthOf(index), isRight[index] ? "right" : "left")),
    );
    return lines.map((line) => `${line.join(GAP).trimEnd()}\n`).join("");
  };
  return (rows) => {
    const cells = rows.map((row) => columns.map((member) => printable(cellText(member, row[member]))));
    if (widths) return cells.map(rowText).join("");
    isRight = columns.map((member) => rows.some((row) => typeof row[member] === "number"));
    const titles = columns.map(titleOf);
    const wanted = columns.map((member, index) =>
      Math.max(
        widthsExpected[member] ?? 0,
        ...[titles, ...cells].map((texts) => textWidth(texts[index] ?? "")),
      ),
    );
    widths = fitted(columns, wanted, terminalColumns);
    return [titles, ...cells].map(rowText).join("");
  };
};

/** If the columns are too wide together, the widest are narrowed first. */
const fitted = (
  columns: readonly string[],
  wanted: readonly number[],
  terminalColumns = Number.POSITIVE_INFINITY,
): readonly number[] => {
  const widths = [...wanted];
  let over = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - terminalColumns;
  for (; over > 0; over--) {
    const room = widths.map((width, index) => (isId(columns[index] ?? "") || width <= WIDTH_MIN ? 0 : width));
    const widest = room.indexOf(Math.max(...room));
    if (room[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
};

/** Names and values, one pair per line; empty ones are left out. Values are complete and wrap on a terminal. */
export const detailLines = (
  pairs: readonly (readonly [name: string, value: string])[],
  terminalColumns = Number.POSITIVE_INFINITY,
): string => {
  const given = pairs
    .filter(([, value]) => value !== "")
    .map(([name, value]) => [printable(name), printable(value)] as const);
  const width = Math.max(0, ...given.map(([name]) => textWidth(name)));
  const indent = " ".repeat(width + 4);
  return given
    .map(([name, value]) => {
      const lines = wrappedLines(value, terminalColumns - indent.length);
      return `  ${padded(name, width)}  ${lines.join(`\n${indent}`)}\n`;
    })
    .join("");
};
