/** `prooftrail restore …`: for a log that was restored from an older copy. */

import { openApi } from "../api.ts";
import { type CommandGroup, type CommandSpec, option } from "../command.ts";
import { confirm, YES_OPTION } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption, SERVICE_OPTIONS } from "../options.ts";
import { printAnswer } from "../output.ts";

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
  run: async (input, context) => {
    const api = await openApi(input, context);
    const question = () => "Accept that the end of the log is lost? This cannot be undone.";
    if (!(await confirm(context, input, question))) return EXIT.failed;
    const body = JSON.stringify({ reason: input.text("--reason") });
    const answer = await api.ask({ path: "/v1/restore/accept", body });
    const text = () => "The log is accepted as it is. Its next heads say that it was restored.\n";
    await printAnswer(context, input, { received: answer.text }, text);
    return EXIT.ok;
  },
};

export const RESTORE: CommandGroup = {
  name: "restore",
  summary: "Continue with a log that was restored from an older copy",
  commands: [accept],
};
