/** `prooftrail classify`: which risk tier an AI system has. Asks the sandbox, which needs no key. */
import { AI_TYPES, AUTONOMIES, IMPACTS, JURISDICTIONS } from "../../law/classification/vocabulary.ts";
import { SANDBOX_REQUESTS_PER_MINUTE } from "../../limits.ts";
import { printable } from "../../runtime/printable.ts";
import { wrappedLines } from "../../runtime/text-width.ts";
import { createApi, dataOf } from "../api.ts";
import { type CommandSpec, type Input, type OptionSpec, option, toggle } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../failure.ts";
import { asRecords, type JsonRecord, shown } from "../json.ts";
import { jsonOption, parameterOf, URL_OPTION } from "../options.ts";
import { coloured, printAnswer, recordText, tableColumns } from "../output.ts";
import { readAddress } from "../service-address.ts";

const TEXTS = ["--domain", "--ai-type", "--decision-autonomy", "--user-impact"] as const;
const FLAGS = ["--processes-personal-data", "--generates-content", "--indistinguishable-output"] as const;

const FACTS: readonly OptionSpec[] = [
  option("--domain", "name", "what it is used for, such as hiring", { isRequired: true }),
  option("--ai-type", "type", `what kind of AI it is, such as ${AI_TYPES[0]} or predictive_ml`),
  option("--decision-autonomy", "degree", `how much it decides on its own, from ${AUTONOMIES.join(", ")}`),
  option("--user-impact", "degree", `how much it matters to the person: ${IMPACTS.join(", ")}`),
  toggle("--processes-personal-data", "it processes personal data"),
  toggle("--generates-content", "it generates content"),
  toggle("--indistinguishable-output", "its output can be taken for real"),
  option("--training-compute-flops", "number", "computing spent on training, such as 1e25", {
    complaint: (text) =>
      text.trim() !== "" && Number(text) >= 0 ? undefined : "Give a number of at least 0.",
  }),
  option("--jurisdictions", "name", "only its laws; default all", {
    choices: JURISDICTIONS,
    isRepeatable: true,
  }),
];

export const FACT_OPTIONS = FACTS.map((fact) => ({ ...fact, group: "Facts about the system:" }));

export const CLASSIFY: CommandSpec = {
  name: "classify",
  summary: "Say which risk tier an AI system has, and why",
  description: [
    `Needs no key: it asks the sandbox, where a client may ask ${SANDBOX_REQUESTS_PER_MINUTE} times a minute. A heuristic of the product and no legal advice.`,
  ],
  options: [...FACT_OPTIONS, URL_OPTION, jsonOption()],
  examples: [
    [
      "a system that sorts applications",
      "prooftrail classify --domain hiring --ai-type predictive_ml \\\n  --decision-autonomy full_auto --user-impact high --processes-personal-data",
    ],
  ],
  run: async (input, context) => {
    const api = createApi(readAddress(input, context.environment), undefined);
    const answer = await api.ask({ path: "/v1/sandbox/classify", body: JSON.stringify(factsOf(input)) });
    const text = () => classificationText(context, dataOf(answer));
    await printAnswer(context, input, { received: answer.text }, text);
    return EXIT.ok;
  },
};

const factsOf = (input: Input): JsonRecord => {
  const flops = input.text("--training-compute-flops");
  const jurisdictions = input.texts("--jurisdictions");
  return {
    ...Object.fromEntries(TEXTS.map((flag) => [parameterOf(flag), input.text(flag)])),
    // Options that were not given are left out, not sent as false.
    ...Object.fromEntries(FLAGS.filter((flag) => input.isSet(flag)).map((flag) => [parameterOf(flag), true])),
    ...(flops !== undefined && { training_compute_flops: Number(flops) }),
    ...(jurisdictions.length > 0 && { jurisdictions }),
  };
};

const classificationText = (context: Context, data: JsonRecord): string => {
  const { risk_tier, reasoning, matched_rules, ruleset_version, cited_clauses, obligations } = data;
  const shownData = {
    why: reasoning,
    rules: matched_rules,
    version: ruleset_version,
    legal_bases: asRecords(cited_clauses),
    obligations: asRecords(obligations),
  };
  const notes = asRecords(data.warnings).map(({ path, message }) => {
    const note = printable(`Note, ${shown(path).slice(1)}: ${shown(message)}`);
    return `\n${wrappedLines(note, tableColumns(context.out) ?? Number.POSITIVE_INFINITY).join("\n")}\n`;
  });
  return [
    `${coloured(context.out, "bold", `Risk tier: ${printable(shown(risk_tier))}`)}\n\n`,
    recordText(context, shownData, {
      legal_bases: ["legal_basis", "ref", "title", "applies_from"],
      obligations: ["force", "code", "clause", "deadline", "event_types"],
    }),
    ...notes,
    "\nFrom the sandbox: not for production, and no legal advice.\n",
  ].join("");
};
