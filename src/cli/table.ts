/** Aligned tables. On a terminal they fit its width, by cutting cells that may be cut; elsewhere every value is whole. Pure. */
import { printable } from "../terminal/printable.ts";
import { cutTo, padded, textWidth, wrappedLines } from "../terminal/text-width.ts";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly isRight?: true;
  /** May be cut on a terminal, but not below this width. */
  readonly widthMin?: number;
  /** Cut only where cutting the others is not enough: what people copy. */
  readonly isCutLast?: true;
  /** Room that is kept for rows that are not known yet. */
  readonly widthExpected?: number;
}

const GAP = "  ";

export interface TableWriter<Row> {
  /** Lines of these rows, the heading before the first ones. */
  lines(rows: readonly Row[]): string;
}

/** Widths follow the first rows that are given. `columns` is the width of the terminal; undefined where there is none. */
export const createTable = <Row>(
  columns: readonly Column<Row>[],
  terminalColumns: number | undefined,
): TableWriter<Row> => {
  let widths: readonly number[] | undefined;
  return {
    lines: (rows) => {
      const cells = rows.map((row) => columns.map(({ value }) => printable(value(row))));
      const heading = widths === undefined ? [columns.map(({ title }) => title)] : [];
      widths ??= widthsFor(columns, cells, terminalColumns);
      const fixed = widths;
      return [...heading, ...cells].map((row) => line(columns, row, fixed, terminalColumns)).join("");
    },
  };
};

const widthsFor = <Row>(
  columns: readonly Column<Row>[],
  cells: readonly (readonly string[])[],
  terminalColumns: number | undefined,
): readonly number[] => {
  const widths = columns.map(({ title, widthExpected = 0 }, index) =>
    cells.reduce(
      (most, row) => Math.max(most, textWidth(row[index] ?? "")),
      Math.max(textWidth(title), widthExpected),
    ),
  );
  if (terminalColumns === undefined) return widths;
  let over = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - terminalColumns;
  for (; over > 0; over--) {
    const widest = widestOf(columns, widths, false) ?? widestOf(columns, widths, true);
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
};

/** Of those that may still be cut. */
const widestOf = <Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
  isCutLast: boolean,
): number | undefined => {
  let widest: number | undefined;
  for (const [index, { widthMin, isCutLast: isLast = false }] of columns.entries()) {
    const width = widths[index] ?? 0;
    if (isLast !== isCutLast || widthMin === undefined || width <= widthMin) continue;
    if (widest === undefined || width > (widths[widest] ?? 0)) widest = index;
  }
  return widest;
};

const line = <Row>(
  columns: readonly Column<Row>[],
  cells: readonly string[],
  widths: readonly number[],
  terminalColumns: number | undefined,
): string => {
  const parts = columns.map(({ isRight, widthMin }, index) => {
    const width = widths[index] ?? 0;
    const cell = cells[index] ?? "";
    const shown = terminalColumns !== undefined && widthMin !== undefined ? cutTo(cell, width) : cell;
    return padded(shown, width, isRight ? "right" : "left");
  });
  return `${parts.join(GAP).trimEnd()}\n`;
};

/** Names with their values below each other; what is undefined is left out. Values are whole, and go on in the next line on a terminal. */
export const detailLines = (
  pairs: readonly (readonly [string, string | undefined])[],
  terminalColumns: number | undefined,
): string => {
  const told = pairs.flatMap(([name, value]) =>
    value === undefined ? [] : [[printable(name), printable(value)] as const],
  );
  const width = told.reduce((most, [name]) => Math.max(most, textWidth(name)), 0);
  const indent = " ".repeat(width + 4);
  return told
    .map(([name, value]) => {
      const room = (terminalColumns ?? Number.POSITIVE_INFINITY) - indent.length;
      return `  ${padded(name, width)}  ${wrappedLines(value, room).join(`\n${indent}`)}\n`;
    })
    .join("");
};
