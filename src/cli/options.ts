/** Options that many commands have, their values, and the parameters of the API that they become. */
import { type Input, type OptionSpec, option, toggle } from "./command.ts";

const SERVICE = "Service:";

export const URL_OPTION: OptionSpec = option(
  "--url",
  "address",
  "address of the service; else PROOFTRAIL_URL, else http://127.0.0.1:8080 (with the port in PORT, where that is set)",
  { group: SERVICE },
);

export const SERVICE_OPTIONS: readonly OptionSpec[] = [
  URL_OPTION,
  option(
    "--key-file",
    "file",
    "file with the API key; else PROOFTRAIL_API_KEY, else, for a service on this machine, DATA_DIR/admin.key (no option takes the key itself: everybody on the machine could read it)",
    { isFile: true, group: SERVICE },
  ),
];

const OUTPUT = "Output:";

export const jsonOption = (description = "one JSON document instead of text; errors too"): OptionSpec =>
  toggle("--json", description, { group: OUTPUT });

export const QUIET_OPTION: OptionSpec = toggle("--quiet", "no progress", { group: OUTPUT });

/** Whole numbers of a range, for the `complaint` of an option. */
export const integerComplaint =
  ({ min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number }) =>
  (text: string): string | undefined => {
    const isValid = /^(?:0|[1-9]\d{0,15})$/.test(text) && Number(text) >= min && Number(text) <= max;
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
    return isValid ? undefined : `Give a whole number, ${range}.`;
  };

/** Waits until the service shows an event that was just sent. */
export const MIN_SEQUENCE_OPTION: OptionSpec = option(
  "--min-sequence",
  "number",
  "wait until this event can be read; the number is in the answer to sending it",
  { complaint: integerComplaint({ min: 0 }) },
);

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Seconds of `45s`, `10m`, `1h`, `90d` or `2w`; undefined if the text is not a duration. */
export const durationSeconds = (text: string): number | undefined => {
  const [, amount, unit = ""] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (SECONDS[unit] ?? 0);
};

export const durationComplaint = (text: string): string | undefined =>
  durationSeconds(text) === undefined ? "Give a time such as 45s, 10m, 1h, 90d or 2w." : undefined;

/** For an id that becomes a segment of a path: an empty one, or one that means a folder, would give another path. */
export const idComplaint = (text: string): string | undefined =>
  ["", ".", ".."].includes(text) ? "Give an id; this one is empty, or means a folder." : undefined;

/** A filter of the API as an option of the same name. */
export const filterUnder =
  (group: string) =>
  (parameter: string, value: string, description: string): OptionSpec =>
    option(`--${parameter.replaceAll("_", "-")}`, value, description, { group });

/** `--asset-id` becomes `asset_id`. */
export const parameterOf = (flag: string): string => flag.slice(2).replaceAll("-", "_");

export const queryFrom = (input: Input, options: readonly OptionSpec[]): URLSearchParams => {
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
