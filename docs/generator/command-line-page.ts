import packageJson from "../../package.json" with { type: "json" };
import { type CommandNode, type CommandSpec, isGroup, type OptionSpec } from "../../src/cli/command.ts";
import { EXIT_MEANINGS } from "../../src/cli/failure.ts";
import { ROOT } from "../../src/cli/tree.ts";
import { code, page, prose, table } from "./markdown.ts";

export const commandLinePage = (): string =>
  page(
    "Command line",
    `In this folder \`npx -y ${packageJson.packageManager} run prooftrail\` runs it; with Bun installed, \`bun link\` puts \`prooftrail\` on your PATH. In a container it is \`bun src/cli/main.ts\`. \`--help\` shows the same as this page.`,
    "The address of the service is `--url`, else `PROOFTRAIL_URL`, else `http://127.0.0.1:8080` (with the port in `PORT` if that is set). The key is in the file that `--key-file` names, or in `PROOFTRAIL_API_KEY`; without either, `DATA_DIR/admin.key` is used for a service on this machine. No option takes the key itself, because everybody on the machine can read arguments.",
    ...commandsOf(ROOT.commands, [ROOT.name]),
    "## Exit codes",
    exitTable(EXIT_MEANINGS),
  );

const commandsOf = (nodes: readonly CommandNode[], path: readonly string[]): readonly string[] =>
  nodes.flatMap((node) => {
    const here = [...path, node.name];
    return isGroup(node) ? commandsOf(node.commands, here) : commandBlocks(node, here);
  });

const commandBlocks = (spec: CommandSpec, path: readonly string[]): readonly string[] => {
  const named = (spec.arguments ?? []).map(({ name, isOptional }) =>
    isOptional ? `[${name}]` : `<${name}>`,
  );
  return [
    `## ${path.join(" ")}`,
    `\`\`\`text\n${[...path, ...named, ...(spec.options.length > 0 ? ["[options]"] : [])].join(" ")}\n\`\`\``,
    `${prose(spec.summary)}.`,
    ...(spec.description ?? []).map(prose),
    ...optionTable(spec),
    `\`\`\`sh\n${spec.examples.map(([says, command]) => `# ${says}\n${command}`).join("\n\n")}\n\`\`\``,
    ...(spec.exitMeanings ? [exitTable(spec.exitMeanings)] : []),
  ];
};

const optionTable = ({ arguments: args = [], options }: CommandSpec): readonly string[] => {
  const rows = [
    ...args.map(({ name, description }) => [code(name), prose(description)]),
    ...options.map((option) => [code(flagText(option)), `${prose(option.description)}${notes(option)}`]),
  ];
  return rows.length > 0 ? [table(["argument or option", "meaning"], rows)] : [];
};

const flagText = ({ flag, value }: OptionSpec): string => (value ? `${flag} <${value}>` : flag);

const notes = ({ choices, isRequired, isRepeatable }: OptionSpec): string =>
  [
    ...(choices ? [`; one of ${choices.map(code).join(", ")}`] : []),
    ...(isRequired ? ["; required"] : []),
    ...(isRepeatable ? ["; may be repeated"] : []),
  ].join("");

const exitTable = (meanings: NonNullable<CommandSpec["exitMeanings"]>): string =>
  table(
    ["exit code", "means"],
    meanings.map(([exit, meaning]) => [String(exit), prose(meaning)]),
  );
