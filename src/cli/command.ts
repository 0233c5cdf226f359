/** What a command is, as data: arguments are read, help is written and completion is made from this alone. */
import type { Context } from "./context.ts";
import type { ExitCode } from "./exit-codes.ts";

export interface OptionSpec {
  /** `--tenant`, in lower case with hyphens. */
  readonly flag: string;
  /** What stands behind it, as the help names it: `name`. Absent: a switch. */
  readonly value?: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly isRequired?: true;
  /** May stand several times. */
  readonly isRepeatable?: true;
  /** The value is a path: completion offers files. */
  readonly isFile?: true;
  /** What is wrong with a value; undefined where nothing is. */
  readonly complaint?: (text: string) => string | undefined;
  /** Heading in the help; "Options:" unless told. */
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
  /** Paragraphs for its own help, after the summary. */
  readonly description?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  readonly examples: readonly Example[];
  /** Where its exit codes mean something else than those of all commands. */
  readonly exitMeanings?: readonly (readonly [ExitCode, string])[];
  /** Where the answer could not be written, or a fault of ours kept it from being found; EXIT.failed unless told. */
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

/** What was typed, held against the spec already. Asking for an option that the spec does not have is a fault of ours and throws. */
export interface Input {
  argument(name: string): string | undefined;
  text(flag: string): string | undefined;
  texts(flag: string): readonly string[];
  /** Of an option whose `complaint` admits whole numbers only. */
  integer(flag: string): number | undefined;
  isSet(flag: string): boolean;
}
