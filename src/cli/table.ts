/** Aligned tables. On a terminal their columns wrap; ids are never cut and never broken, because people copy them. Pure. */
import { printable } from "../runtime/printable.ts";
import { padded, textWidth, wrappedCell, wrappedLines } from "../runtime/text-width.ts";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly isRight?: true;
  readonly isId?: true;
  readonly widthExpected?: number;
}

export interface TableWriter<Row> {
  /** The lines of these rows; the first call also returns the heading. */
  lines(rows: readonly Row[]): string;
}

const GAP = "  ";
/** No column is made narrower: a date stays whole. */
const WIDTH_MIN = 10;

/** Column widths follow the first rows. `terminalColumns` is the width of the terminal; without one each row is one line. */
export const createTable = <Row>(
  columns: readonly Column<Row>[],
  terminalColumns: number | undefined,
): TableWriter<Row> => {
  let widths: readonly number[] | undefined;
  const rowText = (cells: readonly string[], of: readonly number[]): string => {
    const parts = columns.map(({ isId }, index) => {
      const cell = cells[index] ?? "";
      return terminalColumns === undefined || isId ? [cell] : wrappedCell(cell, of[index] ?? 0);
    });
    return Array.from({ length: Math.max(...parts.map(({ length }) => length)) }, (_, at) => {
      const line = columns.map(({ isRight }, index) =>
        padded(parts[index]?.[at] ?? "", of[index] ?? 0, isRight ? "right" : "left"),
      );
      return `${line.join(GAP).trimEnd()}\n`;
    }).join("");
  };
  return {
    lines: (rows) => {
      const cells = rows.map((row) => columns.map(({ value }) => printable(value(row))));
      const isFirst = widths === undefined;
      widths ??= fitted(columns, cells, terminalColumns);
      const known = widths;
      return [...(isFirst ? [columns.map(({ title }) => title)] : []), ...cells]
        .map((texts) => rowText(texts, known))
        .join("");
    },
  };
};

/** As wide as the widest cell; if that is too much, the widest columns are narrowed first. */
const fitted = <Row>(
  columns: readonly Column<Row>[],
  cells: readonly (readonly string[])[],
  terminalColumns = Number.POSITIVE_INFINITY,
): readonly number[] => {
  const widths = columns.map(({ title, widthExpected = 0 }, index) =>
    cells.reduce(
      (most, texts) => Math.max(most, textWidth(texts[index] ?? "")),
      Math.max(textWidth(title), widthExpected),
    ),
  );
  let over = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - terminalColumns;
  for (; over > 0; over--) {
    const room = widths.map((width, index) => (columns[index]?.isId || width <= WIDTH_MIN ? 0 : width));
    const widest = room.indexOf(Math.max(...room));
    if (room[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
};

/** Names and values, one pair per line; undefined values are left out. Values are complete and wrap on a terminal. */
export const detailLines = (
  pairs: readonly (readonly [string, string | undefined])[],
  terminalColumns = Number.POSITIVE_INFINITY,
): string => {
  const told = pairs.flatMap(([name, value]) =>
    value === undefined ? [] : [[printable(name), printable(value)] as const],
  );
  const width = Math.max(0, ...told.map(([name]) => textWidth(name)));
  const indent = " ".repeat(width + 4);
  return told
    .map(([name, value]) => {
      const lines = wrappedLines(value, terminalColumns - indent.length);
      return `  ${padded(name, width)}  ${lines.join(`\n${indent}`)}\n`;
    })
    .join("");
};
