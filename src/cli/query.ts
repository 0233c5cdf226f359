/** From options to the parameters of a question to the API. */
import type { Input, OptionSpec } from "./command.ts";

/** `--asset-id` asks for `asset_id`. */
export const parameterOf = (flag: string): string => flag.slice(2).replaceAll("-", "_");

/** The parameters that these options ask for. */
export const queryFrom = (
  input: Input,
  options: readonly Pick<OptionSpec, "flag" | "isRepeatable">[],
): URLSearchParams => {
  const query = new URLSearchParams();
  for (const { flag, isRepeatable } of options) {
    const value = isRepeatable ? undefined : input.text(flag);
    if (value !== undefined) query.set(parameterOf(flag), value);
    // The only one that may stand several times is the tag.
    if (isRepeatable)
      for (const tag of input.texts(flag)) {
        const equals = tag.indexOf("=");
        query.append(`tag.${tag.slice(0, equals)}`, tag.slice(equals + 1));
      }
  }
  return query;
};
