/** `prooftrail evidence`: a bundle that proves itself. */
import { PROOF_WAIT_SECONDS_MAX } from "../../limits.ts";
import { printable } from "../../runtime/printable.ts";
import { sizeText } from "../../runtime/size-text.ts";
import { type CommandSpec, type OptionSpec, option } from "../command.ts";
import { download, FORCE_OPTION } from "../download.ts";
import { EXIT } from "../failure.ts";
import { integerComplaint, jsonOption, QUIET_OPTION, SERVICE_OPTIONS } from "../options.ts";
import { printAnswer } from "../output.ts";

const PARAMETERS: readonly OptionSpec[] = [
  option("--asset-id", "ids", "about these AI systems, separated by commas"),
  option("--correlation-id", "id", "about this case"),
  option("--decision-id", "id", "about this decision"),
  option("--subject-hash", "hash", "about this person"),
  option("--from", "time", "events at or after this time, such as 2026-11-20T10:00:00Z"),
  option("--to", "time", "events before this time"),
  option("--lang", "language", "of the page for people; en by default", { choices: ["en", "ko"] }),
  option("--wait", "seconds", "how long to wait until all is sealed", {
    complaint: integerComplaint({ min: 0, max: PROOF_WAIT_SECONDS_MAX }),
  }),
];

export const EVIDENCE: CommandSpec = {
  name: "evidence",
  summary: "Fetch an evidence bundle: records with proofs, a ZIP",
  description: [
    "For AI systems, a case, a decision or a person, or without any of them for the whole tenant. Check it with prooftrail verify. Each bundle is recorded as an event in Prooftrail's own log.",
  ],
  options: [
    option("--output", "file", "where to", { isRequired: true, isFile: true }),
    FORCE_OPTION,
    ...PARAMETERS,
    ...SERVICE_OPTIONS,
    jsonOption("one JSON document about the file; errors as JSON too"),
    QUIET_OPTION,
  ],
  examples: [
    [
      "about one system, and checked",
      "prooftrail evidence --asset-id credit_model --output evidence.zip\nprooftrail verify --key log.key evidence.zip",
    ],
  ],
  run: async (input, context) => {
    const path = input.text("--output") ?? "";
    const { bytes } = await download(input, context, {
      path: "/v1/evidence",
      parameters: PARAMETERS,
      mediaType: "application/zip",
      progress: { what: "fetching", unit: "bytes" },
      report: (_, count) => ({ count }),
    });
    const text = () =>
      `${printable(path)} has ${sizeText(bytes)}. Check it: prooftrail verify ${printable(path)}\n`;
    await printAnswer(context, input, { data: { path, bytes } }, text);
    return EXIT.ok;
  },
};
