/** `prooftrail restore …`: for a log that was restored from an older copy. */
import { answering } from "../api.ts";
import { type CommandGroup, type CommandSpec, option } from "../command.ts";
import { YES_OPTION } from "../confirm.ts";
import { jsonOption, SERVICE_OPTIONS } from "../options.ts";

const accept: CommandSpec = {
  name: "accept",
  summary: "Accept a log that lost its end, and continue with it",
  description: [
    "With HEADS_COPY set, a log that does not reach the signed heads there is neither signed nor written. This records forever that the rest is lost, and every later head of these logs says so. It needs the admin key.",
  ],
  options: [
    option("--reason", "text", "why the log was restored; it is kept in the log", { isRequired: true }),
    YES_OPTION,
    ...SERVICE_OPTIONS,
    jsonOption(),
  ],
  examples: [
    [
      "after the disk of the log was replaced",
      'prooftrail restore accept --reason "disk failure, copy of 27 November"',
    ],
  ],
  run: answering(
    (input) => ({
      path: "/v1/restore/accept",
      body: JSON.stringify({ reason: input.text("--reason") }),
    }),
    () => "The log is accepted as it is. Its next heads say that it was restored.\n",
    () => "Accept that the end of the log is lost? This cannot be undone.",
  ),
};

export const RESTORE: CommandGroup = {
  name: "restore",
  summary: "Continue with a log that was restored from an older copy",
  commands: [accept],
};
