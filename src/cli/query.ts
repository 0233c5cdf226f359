/** Turns options into parameters of a request to the API. */
import type { Input, OptionSpec } from "./command.ts";

/** `--asset-id` becomes `asset_id`. */
export const parameterOf = (flag: string): string => flag.slice(2).replaceAll("-", "_");

export const queryFrom = (
  input: Input,
  options: readonly Pick<OptionSpec, "flag" | "isRepeatable">[],
): URLSearchParams => {
  const query = new URLSearchParams();
  for (const { flag, isRepeatable } of options) {
    const value = isRepeatable ? undefined : input.text(flag);
    if (value !== undefined) query.set(parameterOf(flag), value);
    // Only tags may be repeated.
    if (isRepeatable)
      for (const tag of input.texts(flag)) {
        const equals = tag.indexOf("=");
        query.append(`tag.${tag.slice(0, equals)}`, tag.slice(equals + 1));
      }
  }
  return query;
};

/** A filter of the API as an option of the same name. */
export const filterUnder =
  (group: string) =>
  (parameter: string, value: string, description: string): OptionSpec => ({
    flag: `--${parameter.replaceAll("_", "-")}`,
    value,
    description,
    group,
  });
