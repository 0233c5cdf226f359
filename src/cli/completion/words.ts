/** What completion offers after which words, as a flat list made from the command tree, so that no command can be forgotten. Pure. */
import { type CommandGroup, type CommandNode, type CommandSpec, isGroup } from "../command.ts";

export interface Place {
  /** The words of the command, such as `keys create`; none for the program itself. */
  readonly path: readonly string[];
  readonly summary: string;
  /** What may come next: the commands of a group. */
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
  /** The values of its arguments. */
  readonly takesFiles: boolean;
  readonly choices: readonly string[];
}

export interface Word {
  readonly word: string;
  readonly says: string;
}

export interface OptionWord extends Word {
  /** Whether it has a value, and of which kind. */
  readonly value: "none" | "any" | "file" | readonly string[];
}

/** Its words joined, as the scripts store them. */
export const placeName = ({ path }: Place): string => path.join(" ");

export const placesOf = (root: CommandGroup): readonly Place[] => placesUnder(root, []);

const placesUnder = (node: CommandNode, path: readonly string[]): readonly Place[] => {
  if (!isGroup(node)) return [placeOf(node, path)];
  const children = node.commands.flatMap((child) => placesUnder(child, [...path, child.name]));
  const commands = node.commands.map(({ name, summary }) => ({ word: name, says: summary }));
  const version = { word: "--version", says: "print the version", value: "none" } as const;
  const options = path.length === 0 ? [HELP, version] : [HELP];
  return [{ path, summary: node.summary, commands, options, takesFiles: false, choices: [] }, ...children];
};

const HELP: OptionWord = { word: "--help", says: "help", value: "none" };

const placeOf = (
  { summary, options, arguments: args = [] }: CommandSpec,
  path: readonly string[],
): Place => ({
  path,
  summary,
  commands: [],
  options: [
    ...options.map(({ flag, value, description, choices, isFile }) => ({
      word: flag,
      says: description,
      value:
        value === undefined
          ? ("none" as const)
          : (choices ?? (isFile ? ("file" as const) : ("any" as const))),
    })),
    HELP,
  ],
  takesFiles: args.some(({ isFile }) => isFile === true),
  choices: args.flatMap(({ choices = [] }) => choices),
});
