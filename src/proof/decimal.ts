/** Whole numbers as the C2SP texts write them: ASCII digits without leading zeros. */

/** Undefined if the text is written in another way, or is above 2^53 - 1, which a number cannot hold exactly. */
export const parseDecimal = (text: string): number | undefined => {
  if (!/^(0|[1-9][0-9]{0,15})$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
};

export const formatDecimal = (value: number): string => {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a count`);
  return String(value);
};
