/** From the typed words to an exit code: commander parses the arguments by the specs, then the command runs. */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { stackOf } from "../runtime/error-text.ts";
import { printableLines } from "../runtime/printable.ts";
import { wrappedLines } from "../runtime/text-width.ts";
import { version } from "../service/version.ts";
import {
  type ArgumentSpec,
  type CommandGroup,
  type CommandNode,
  type CommandSpec,
  type Example,
  type Input,
  isGroup,
  type OptionSpec,
} from "./command.ts";
import { type Context, withPrintableJson } from "./context.ts";
import {
  EXIT,
  EXIT_MEANINGS,
  type ExitCode,
  Failure,
  type FailureDocument,
  failure,
  Interrupted,
  reasonOf,
} from "./failure.ts";
import { failureText } from "./output.ts";

export type Invocation =
  | { readonly kind: "run"; readonly spec: CommandSpec; readonly input: Input }
  | { readonly kind: "told"; readonly text: string }
  | { readonly kind: "wrong_use"; readonly text: string };

export const runProgram = async (
  root: CommandGroup,
  args: readonly string[],
  given: Context,
): Promise<ExitCode> => {
  const wantsJson = args.includes("--json");
  const context = wantsJson ? withPrintableJson(given) : given;
  const invocation = readInvocation(root, args);
  if (invocation.kind === "told") {
    await context.out.write(invocation.text);
    return (await tellUnwritten(context, wantsJson)) ? EXIT.failed : EXIT.ok;
  }
  if (invocation.kind === "wrong_use") {
    const { document } = failure("wrong_use", invocation.text.trim().replace(/^prooftrail: /, ""));
    await context.err.write(wantsJson ? `${JSON.stringify(document)}\n` : printableLines(invocation.text));
    return EXIT.usage;
  }
  const { faultCode = EXIT.failed } = invocation.spec;
  try {
    const exitCode = await invocation.spec.run(invocation.input, context);
    return (await tellUnwritten(context, wantsJson)) ? faultCode : exitCode;
  } catch (error) {
    if (error instanceof Interrupted) return EXIT.interrupted;
    const { document, exitCode } =
      error instanceof Failure ? error : { document: faultOf(error), exitCode: faultCode };
    await tellFailure(context, document, wantsJson);
    return exitCode;
  }
};

const tellFailure = async (
  { err }: Context,
  document: FailureDocument,
  wantsJson: boolean,
): Promise<void> => {
  await err.write(wantsJson ? `${JSON.stringify(document)}\n` : failureText(err, document));
};

/** Whether some output could not be written. Part of an answer must not pass for the whole. */
const tellUnwritten = async (context: Context, wantsJson: boolean): Promise<boolean> => {
  const problem = context.out.problem();
  if (!problem) return false;
  const { document } = failure(
    "unwritten_output",
    `Not all output could be written: ${reasonOf(problem)}. Everything else the command did is done.`,
    "Free space, or send the output elsewhere. If a new key was not shown, create another and revoke it.",
  );
  await tellFailure(context, document, wantsJson);
  return true;
};

/** A bug shows its stack trace, which a report of it needs. */
const faultOf = (error: unknown): FailureDocument => failure("failed", stackOf(error)).document;

export const readInvocation = (root: CommandGroup, args: readonly string[]): Invocation => {
  let told = "";
  let complained = "";
  let run: Invocation | undefined;
  const build = (node: CommandNode, path: string): Command => {
    const command = new Command(node.name)
      .summary(node.summary)
      .helpOption("--help", "this text")
      .configureHelp({ subcommandTerm })
      .showHelpAfterError(`See: ${path} --help`)
      .exitOverride()
      .configureOutput({
        writeOut: (text) => {
          told += text;
        },
        writeErr: (text) => {
          complained += text;
        },
        getOutHelpWidth: () => HELP_COLUMNS,
        getErrHelpWidth: () => HELP_COLUMNS,
      });
    if (isGroup(node)) {
      command.description(`${node.summary}.`).addHelpText("after", groupHelp(node)).helpCommand(false);
      for (const child of node.commands) command.addCommand(build(child, `${path} ${child.name}`));
      return command;
    }
    command.description(descriptionText(node)).addHelpText("after", afterHelp(node));
    for (const argument of node.arguments ?? []) command.addArgument(buildArgument(argument));
    for (const option of node.options) command.addOption(buildOption(option));
    return command.action(() => {
      run = { kind: "run", spec: node, input: inputOf(node, command) };
    });
  };
  const program = build(root, root.name)
    .version(version, "--version", "print the version")
    .helpCommand("help [command]", "the same as --help");
  try {
    program.parse([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0
      ? { kind: "told", text: told }
      : { kind: "wrong_use", text: complained.replace(/^error: /, "prooftrail: ") };
  }
  return run ?? { kind: "wrong_use", text: complained };
};

/** Without the `[options]` that all commands have. */
const subcommandTerm = (command: Command): string =>
  [command.name(), ...command.registeredArguments.map(termOf)].join(" ");

const termOf = (argument: Argument): string =>
  argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;

const buildArgument = ({ name, description, isOptional, choices, complaint }: ArgumentSpec): Argument => {
  const argument = new Argument(isOptional ? `[${name}]` : `<${name}>`, description);
  if (choices) argument.choices(choices);
  else argument.argParser((text: string) => accepted(text, complaint));
  return argument;
};

const buildOption = (spec: OptionSpec): Option => {
  const { flag, value, choices, isRequired, isRepeatable, complaint, group } = spec;
  const option = new Option(value === undefined ? flag : `${flag} <${value}>`, descriptionOf(spec));
  if (group !== undefined) option.helpGroup(group);
  if (isRequired) option.makeOptionMandatory();
  if (value === undefined) return option;
  const check = (text: string): string =>
    accepted(text, choices ? (word) => choiceComplaint(choices, word) : complaint);
  return option.argParser((text: string, previous: unknown) => {
    // One of two values would have to be ignored.
    if (!isRepeatable && previous !== undefined) throw new InvalidArgumentError("Given twice: give it once.");
    return isRepeatable ? [...(Array.isArray(previous) ? previous : []), check(text)] : check(text);
  });
};

const descriptionOf = ({ description, choices, isRequired, isRepeatable }: OptionSpec): string =>
  [
    description,
    ...(choices ? [`one of ${choices.join(", ")}`] : []),
    ...(isRepeatable ? ["may be given several times"] : []),
    ...(isRequired ? ["required"] : []),
  ].join("; ");

const choiceComplaint = (choices: readonly string[], text: string): string | undefined =>
  choices.includes(text) ? undefined : `Allowed choices are ${choices.join(", ")}.`;

const accepted = (text: string, complaint: OptionSpec["complaint"]): string => {
  const message = complaint?.(text);
  if (message !== undefined) throw new InvalidArgumentError(message);
  return text;
};

const inputOf = (spec: CommandSpec, command: Command): Input => {
  const optionValue = (flag: string): unknown => {
    const option = command.options.find(({ long }) => long === flag);
    if (!option) throw new Error(`${spec.name} has no option ${flag}`);
    return command.getOptionValue(option.attributeName());
  };
  const text = (flag: string): string | undefined => {
    const value = optionValue(flag);
    return typeof value === "string" ? value : undefined;
  };
  return {
    argument: (name) => {
      const index = (spec.arguments ?? []).findIndex((argument) => argument.name === name);
      if (index < 0) throw new Error(`${spec.name} has no argument ${name}`);
      return command.args[index];
    },
    text,
    texts: (flag) => {
      const value = optionValue(flag);
      return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
    },
    integer: (flag) => {
      const value = text(flag);
      return value === undefined ? undefined : Number(value);
    },
    isSet: (flag) => optionValue(flag) === true,
  };
};

/** Help fits the narrowest terminal in use. */
const HELP_COLUMNS = 80;

const descriptionText = ({ summary, description = [] }: CommandSpec): string =>
  [`${summary}.`, ...description].join("\n\n");

const afterHelp = (spec: CommandSpec): string =>
  `\nExamples:\n${spec.examples.map(exampleText).join("")}\n${exitCodesText(spec.exitMeanings)}`;

const groupHelp = ({ examples }: CommandGroup): string =>
  `${examples ? `\nExamples:\n${examples.map(exampleText).join("")}` : ""}\n${exitCodesText()}`;

const exampleText = ([says, command]: Example): string =>
  `${wrapped(says, "  # ")}${command
    .split("\n")
    .map((line) => `  ${line}\n`)
    .join("")}`;

const exitCodesText = (meanings: CommandSpec["exitMeanings"] = EXIT_MEANINGS): string => {
  const width = Math.max(...meanings.map(([code]) => String(code).length));
  const rows = meanings.map(([code, meaning]) =>
    wrapped(meaning, `  ${String(code).padEnd(width)}  `, " ".repeat(width + 4)),
  );
  return `Exit codes:\n${rows.join("")}`;
};

/** Lines of at most HELP_COLUMNS. The first starts with `first`, the others with `next`, which has the same length. */
const wrapped = (text: string, first: string, next = first): string =>
  wrappedLines(text, HELP_COLUMNS - first.length)
    .map((line, index) => `${index === 0 ? first : next}${line}\n`)
    .join("");
