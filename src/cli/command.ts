/** A command described as data. Parsing of arguments, help and completion all follow from this description. */
import type { Context } from "./context.ts";
import type { ExitCode } from "./failure.ts";

export interface OptionSpec {
  /** The name, such as `--tenant`, in lower case with hyphens. */
  readonly flag: string;
  /** The name of its value in the help, such as `name`. Absent for a switch. */
  readonly value?: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly isRequired?: true;
  readonly isRepeatable?: true;
  /** The value is a path: completion offers files. */
  readonly isFile?: true;
  readonly complaint?: (text: string) => string | undefined;
  /** Heading in the help; default "Options:". */
  readonly group?: string;
}

type More = Omit<OptionSpec, "flag" | "value" | "description">;

export const option = (flag: string, value: string, description: string, more?: More): OptionSpec => ({
  flag,
  value,
  description,
  ...more,
});

export const toggle = (flag: string, description: string, more?: More): OptionSpec => ({
  flag,
  description,
  ...more,
});

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
  readonly summary: string;
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

/** What it is for, and the command. */
export type Example = readonly [says: string, command: string];

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
