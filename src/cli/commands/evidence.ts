/** `prooftrail evidence`: a bundle that proves itself. */
import { PROOF_WAIT_SECONDS_MAX } from "../../limits.ts";
import { printable } from "../../runtime/printable.ts";
import { sizeText } from "../../runtime/size-text.ts";
import { integerComplaint } from "../argument-values.ts";
import type { CommandSpec, OptionSpec } from "../command.ts";
import { download, FORCE_OPTION } from "../download.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption, QUIET_OPTION, SERVICE_OPTIONS } from "../shared-options.ts";

const PARAMETERS: readonly OptionSpec[] = [
  { flag: "--asset-id", value: "ids", description: "about these AI systems, separated by commas" },
  { flag: "--correlation-id", value: "id", description: "about this case" },
  { flag: "--decision-id", value: "id", description: "about this decision" },
  { flag: "--subject-hash", value: "hash", description: "about this person" },
  {
    flag: "--from",
    value: "time",
    description: "events at or after this time, such as 2026-11-20T10:00:00Z",
  },
  { flag: "--to", value: "time", description: "events before this time" },
  {
    flag: "--lang",
    value: "language",
    description: "of the page for people; en by default",
    choices: ["en", "ko"],
  },
  {
    flag: "--wait",
    value: "seconds",
    description: "how long to wait until all is sealed",
    complaint: integerComplaint({ min: 0, max: PROOF_WAIT_SECONDS_MAX }),
  },
];

export const EVIDENCE: CommandSpec = {
  name: "evidence",
  summary: "Fetch an evidence bundle: records with proofs, a ZIP",
  description: [
    "For AI systems, a case, a decision or a person, or without any of them for the whole tenant. Check it with prooftrail verify. Each bundle is recorded as an event in Prooftrail's own log.",
  ],
  options: [
    { flag: "--output", value: "file", description: "where to", isRequired: true, isFile: true },
    FORCE_OPTION,
    ...PARAMETERS,
    ...SERVICE_OPTIONS,
    jsonOption("one JSON document about the file; errors as JSON too"),
    QUIET_OPTION,
  ],
  examples: [
    {
      says: "about one system, and checked",
      command:
        "prooftrail evidence --asset-id credit_model --output evidence.zip\nprooftrail verify --key log.key evidence.zip",
    },
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
    await context.out.write(
      input.isSet("--json")
        ? `${JSON.stringify({ data: { path, bytes } })}\n`
        : `${printable(path)} has ${sizeText(bytes)}. Check it: prooftrail verify ${printable(path)}\n`,
    );
    return EXIT.ok;
  },
};
