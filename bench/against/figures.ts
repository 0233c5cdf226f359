/** A figure of both programs, its floor, and how it is printed. */

export interface Figure {
  readonly name: string;
  readonly before: number;
  readonly now: number;
  /** Of the ratio now / before, or of the figure itself. */
  readonly floor: { readonly atLeast: number } | { readonly atMost: number } | { readonly nowAtMost: number };
}

export const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(share * (values.length - 1))] ?? Number.NaN;

export const holds = ({ before, now, floor }: Figure): boolean => {
  if ("nowAtMost" in floor) return now <= floor.nowAtMost;
  return "atLeast" in floor ? now / before >= floor.atLeast : now / before <= floor.atMost;
};

export const tableOf = (figures: readonly Figure[], commit: string): string =>
  [
    `| figure | ${commit} | now | now / before | floor | holds |`,
    "|---|---|---|---|---|---|",
    ...figures.map((figure) => {
      const { name, before, now } = figure;
      return `| ${name} | ${short(before)} | ${short(now)} | ${(now / before).toFixed(2)} | ${floorText(figure)} | ${holds(figure) ? "yes" : "**no**"} |`;
    }),
    "",
  ].join("\n");

const floorText = ({ floor }: Figure): string => {
  if ("nowAtMost" in floor) return `now ≤ ${floor.nowAtMost}`;
  return "atLeast" in floor ? `≥ ${floor.atLeast}` : `≤ ${floor.atMost}`;
};

const short = (value: number): string => (value >= 100 ? Math.round(value).toString() : value.toPrecision(3));
