/** `prooftrail verify`: checks whether an evidence bundle is valid. Needs no service. */
import { reportJson, reportText } from "../../proof/verifier/report.ts";
import { EXIT_CODES, UnreadableFileError, verifyFile } from "../../proof/verifier/verify-file.ts";
import { type CommandSpec, option } from "../command.ts";
import { EXIT, failure } from "../failure.ts";
import { jsonOption } from "../options.ts";

export const VERIFY: CommandSpec = {
  name: "verify",
  summary: "Say whether an evidence bundle, or the proof of an event, is valid",
  description: [
    "Needs no network. The same verifier is one file for other machines: bun run build:verifier.",
  ],
  arguments: [
    {
      name: "bundle",
      description: "the ZIP, the folder into which it was unpacked, or the proof of an event",
      isFile: true,
    },
  ],
  options: [
    option(
      "--key",
      "file",
      "verifier keys (GET /v1/log/key) from a source that you trust; without it the keys in the bundle are used, which proves less",
      { isFile: true },
    ),
    option("--tenant", "name", "which the bundle must be about"),
    option("--checkpoint", "file", "a checkpoint of the same log that you hold", { isFile: true }),
    option(
      "--consistency",
      "file",
      "the answer of GET /v1/log/consistency between that one and the bundle's",
      { isFile: true },
    ),
    jsonOption("the verdict as one line of JSON"),
  ],
  examples: [["with the key of the log", "prooftrail verify --key log.key evidence.zip"]],
  exitMeanings: [
    [EXIT.ok, "valid"],
    [EXIT.failed, "invalid"],
    [EXIT.usage, "not decided: wrong use, files that cannot be read, or more is needed"],
  ],
  // 1 would mean that the bundle is invalid.
  faultCode: EXIT.usage,
  run: async (input, { out }) => {
    const path = input.argument("bundle") ?? "";
    try {
      const verdict = await verifyFile({
        bundle: path,
        keys: input.text("--key"),
        tenant: input.text("--tenant"),
        checkpoint: input.text("--checkpoint"),
        consistency: input.text("--consistency"),
      });
      await out.write(input.isSet("--json") ? `${reportJson(verdict)}\n` : reportText(path, verdict));
      return EXIT_CODES[verdict.kind];
    } catch (error) {
      if (error instanceof UnreadableFileError) throw failure("unreadable_file", `${error.message}.`);
      throw error;
    }
  },
};
