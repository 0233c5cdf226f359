/** A command described as data. Parsing of arguments, help and completion all follow from this description. */
import type { Context } from "./context.ts";
import type { ExitCode } from "./exit-codes.ts";

export interface OptionSpec {
  /** The name, such as `--tenant`, in lower case with hyphens. */
  readonly flag: string;
  /** The name of its value in the help, such as `name`. Absent for a switch. */
  readonly value?: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly isRequired?: true;
  /** The option may be repeated. */
  readonly isRepeatable?: true;
  /** The value is a path: completion offers files. */
  readonly isFile?: true;
  /** What is wrong with a value; undefined if it is valid. */
  readonly complaint?: (text: string) => string | undefined;
  /** Heading in the help; default "Options:". */
  readonly group?: string;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly description: string;
  readonly isOptional?: true;
  readonly choices?: readonly string[];
  readonly isFile?: true;
  readonly complaint?: (text: string) => string | undefined;
}

export interface CommandSpec {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** Paragraphs of its own help, after the summary. */
  readonly description?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  readonly examples: readonly Example[];
  /** Set if its exit codes differ from those of other commands. */
  readonly exitMeanings?: readonly (readonly [ExitCode, string])[];
  /** Exit code if the answer could not be written or a bug prevented it; default EXIT.failed. */
  readonly faultCode?: ExitCode;
  readonly run: (input: Input, context: Context) => Promise<ExitCode>;
}

export interface Example {
  readonly command: string;
  readonly says: string;
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandNode[];
  readonly examples?: readonly Example[];
}

export type CommandNode = CommandSpec | CommandGroup;

export const isGroup = (node: CommandNode): node is CommandGroup => "commands" in node;

/** The typed arguments, already checked against the spec. Asking for an option that the spec does not have is a bug and throws. */
export interface Input {
  argument(name: string): string | undefined;
  text(flag: string): string | undefined;
  texts(flag: string): readonly string[];
  /** For an option whose `complaint` admits only whole numbers. */
  integer(flag: string): number | undefined;
  isSet(flag: string): boolean;
}
