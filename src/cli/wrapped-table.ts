/** Tables whose columns wrap on a terminal. Ids are never cut and never broken, because people copy them. Pure. */
import { padded, textWidth } from "../terminal/text-width.ts";
import { GAP, type TableWriter, tableWriter } from "./table.ts";

export interface WrappedColumn<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly isRight?: true;
  readonly isId?: true;
}

/** No column is made narrower: a date stays whole. */
const WIDTH_MIN = 10;

/** Column widths follow the first rows. `columns` is the width of the terminal; without one each row is one line. */
export const createWrappedTable = <Row>(
  columns: readonly WrappedColumn<Row>[],
  terminalColumns: number | undefined,
): TableWriter<Row> =>
  tableWriter(columns, terminalColumns, {
    narrowable: (widths) => widestOf(columns, widths),
    row: (cells, widths) => rowText(columns, cells, widths, terminalColumns !== undefined),
  });

/** The first of the widest columns that may be narrower. */
const widestOf = (
  columns: readonly WrappedColumn<never>[],
  widths: readonly number[],
): number | undefined => {
  const [widest] = widths
    .map((width, index) => ({ width, index }))
    .filter(({ width, index }) => columns[index]?.isId !== true && width > WIDTH_MIN)
    .sort((one, other) => other.width - one.width);
  return widest?.index;
};

const rowText = (
  columns: readonly WrappedColumn<never>[],
  cells: readonly string[],
  widths: readonly number[],
  isWrapped: boolean,
): string => {
  const parts = columns.map(({ isId }, index) => {
    const cell = cells[index] ?? "";
    return isWrapped && isId !== true ? cellLines(cell, widths[index] ?? 0) : [cell];
  });
  const height = Math.max(...parts.map(({ length }) => length));
  return Array.from({ length: height }, (_, at) => {
    const line = columns.map(({ isRight }, index) =>
      padded(parts[index]?.[at] ?? "", widths[index] ?? 0, isRight ? "right" : "left"),
    );
    return `${line.join(GAP).trimEnd()}\n`;
  }).join("");
};

/** Breaks at spaces, behind the joints of a name, and else anywhere. */
const cellLines = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  let line = "";
  for (const part of text.split(/(?<=[ ._/-])/)) {
    if (textWidth(line + part.trimEnd()) <= width) {
      line += part;
      continue;
    }
    if (line !== "") lines.push(line.trimEnd());
    line = "";
    for (const character of part) {
      if (textWidth(line + character) > width && line !== "") {
        lines.push(line);
        line = "";
      }
      line += character;
    }
  }
  return [...lines, line.trimEnd()];
};
