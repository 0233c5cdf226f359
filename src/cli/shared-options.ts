/** Options that many commands have, with one meaning. */
import { type OptionSpec, option, toggle } from "./command.ts";

const SERVICE = "Service:";

export const SERVICE_OPTIONS: readonly OptionSpec[] = [
  {
    flag: "--url",
    value: "address",
    description:
      "address of the service; else PROOFTRAIL_URL, else http://127.0.0.1:8080 (with the port in PORT, where that is set)",
    group: SERVICE,
  },
  option(
    "--key-file",
    "file",
    "file with the API key; else PROOFTRAIL_API_KEY, else, for a service on this machine, DATA_DIR/admin.key (no option takes the key itself: everybody on the machine could read it)",
    { isFile: true, group: SERVICE },
  ),
];

export const URL_OPTION: readonly OptionSpec[] = SERVICE_OPTIONS.slice(0, 1);

const OUTPUT = "Output:";

export const jsonOption = (description = "one JSON document instead of text; errors too"): OptionSpec => ({
  flag: "--json",
  description,
  group: OUTPUT,
});

export const QUIET_OPTION: OptionSpec = toggle("--quiet", "no progress", { group: OUTPUT });
