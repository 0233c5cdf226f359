/** Aligned tables. On a terminal they are fitted to its width by truncating some cells; elsewhere every value is complete. Pure. */
import { printable } from "../terminal/printable.ts";
import { cutTo, padded, textWidth, wrappedLines } from "../terminal/text-width.ts";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly isRight?: true;
  /** May be truncated on a terminal, but not below this width. */
  readonly widthMin?: number;
  /** Truncated only if truncating the other columns is not enough: values that people copy. */
  readonly isCutLast?: true;
  /** Width reserved for rows that are not known yet. */
  readonly widthExpected?: number;
}

export const GAP = "  ";

export interface TableWriter<Row> {
  /** The lines of these rows; the first call also returns the heading. */
  lines(rows: readonly Row[]): string;
}

/** Column widths follow the first rows. `columns` is the width of the terminal; undefined without one. */
export const createTable = <Row>(
  columns: readonly Column<Row>[],
  terminalColumns: number | undefined,
): TableWriter<Row> =>
  tableWriter(columns, terminalColumns, {
    narrowable: (widths) => widestOf(columns, widths, false) ?? widestOf(columns, widths, true),
    row: (cells, widths) => line(columns, cells, widths, terminalColumns),
  });

/** What differs between tables that cut their cells and those that wrap them. */
interface Layout {
  /** The index of the column to make narrower by one; undefined if none may be. */
  readonly narrowable: (widths: readonly number[]) => number | undefined;
  /** The text of one row, with its line ends. */
  readonly row: (cells: readonly string[], widths: readonly number[]) => string;
}

export const tableWriter = <Row>(
  columns: readonly Pick<Column<Row>, "title" | "value" | "widthExpected">[],
  terminalColumns: number | undefined,
  { narrowable, row }: Layout,
): TableWriter<Row> => {
  let known: readonly number[] | undefined;
  const widthsOf = (cells: readonly (readonly string[])[]): readonly number[] => {
    const widths = columns.map(({ title, widthExpected = 0 }, index) =>
      cells.reduce(
        (most, texts) => Math.max(most, textWidth(texts[index] ?? "")),
        Math.max(textWidth(title), widthExpected),
      ),
    );
    if (terminalColumns === undefined) return widths;
    let over = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - terminalColumns;
    for (; over > 0; over--) {
      const index = narrowable(widths);
      if (index === undefined) break;
      widths[index] = (widths[index] ?? 0) - 1;
    }
    return widths;
  };
  return {
    lines: (rows) => {
      const cells = rows.map((each) => columns.map(({ value }) => printable(value(each))));
      const heading = known === undefined ? [columns.map(({ title }) => title)] : [];
      const widths = known ?? widthsOf(cells);
      known = widths;
      return [...heading, ...cells].map((texts) => row(texts, widths)).join("");
    },
  };
};

/** The columns that may still be truncated. */
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

/** Names and values, one pair per line; undefined values are left out. Values are complete and wrap on a terminal. */
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
