/** `prooftrail completion`: a script with which a shell completes. It asks this program at each Tab what may come next. */
import {
  type ArgumentSpec,
  type CommandGroup,
  type CommandNode,
  type CommandSpec,
  isGroup,
  type OptionSpec,
} from "../command.ts";
import { EXIT } from "../failure.ts";
import { jsonOption } from "../options.ts";
import { printAnswer } from "../output.ts";

/** Set by the scripts: what stands on the line before the cursor. */
const LINE = "PROOFTRAIL_COMPLETE";
/** The answer where the shell is to offer files. */
const FILES = ":files";

const bash = `# bash completion for prooftrail.
# Now:      source <(prooftrail completion bash)
# For good: prooftrail completion bash > ~/.local/share/bash-completion/completions/prooftrail

_prooftrail() {
  # Not COMP_WORDS: bash cuts events:write at the colon there.
  local line=\${COMP_LINE:0:COMP_POINT}
  local current=\${line##*[[:space:]]}
  mapfile -t COMPREPLY < <(${LINE}=$line prooftrail completion bash)
  if [[ \${COMPREPLY[0]} == ${FILES} ]]; then COMPREPLY=(); else compopt +o default; fi
  # What stands before the last colon is a word of its own for bash, and stays.
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}")
  fi
}
complete -o default -F _prooftrail prooftrail
`;

const zsh = `#compdef prooftrail
# zsh completion for prooftrail.
# Now:      source <(prooftrail completion zsh)
# For good: prooftrail completion zsh > a folder of $fpath, as _prooftrail

_prooftrail() {
  local -a found
  found=("\${(@f)$(${LINE}="\${(j: :)words[1,CURRENT]}" prooftrail completion zsh)}")
  if [[ $found[1] == ${FILES} ]]; then _files; elif [[ -n $found[1] ]]; then _describe prooftrail found; fi
}

if [[ $funcstack[1] == _prooftrail ]]; then _prooftrail "$@"; else compdef _prooftrail prooftrail; fi
`;

const fish = `# fish completion for prooftrail.
# Now:      prooftrail completion fish | source
# For good: prooftrail completion fish > ~/.config/fish/completions/prooftrail.fish

function __prooftrail_complete
  set -lx ${LINE} (commandline -cp | string collect)
  set -l found (prooftrail completion fish)
  if test "$found[1]" = ${FILES}
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end
complete -c prooftrail -f -a '(__prooftrail_complete)'
`;

interface Completion {
  readonly word: string;
  readonly says: string;
}

const SHELLS: Readonly<
  Record<string, { readonly script: string; readonly line: (of: Completion) => string }>
> = {
  bash: { script: bash, line: ({ word }) => word },
  zsh: { script: zsh, line: ({ word, says }) => `${word.replaceAll(":", "\\:")}:${says}` },
  fish: { script: fish, line: ({ word, says }) => `${word}\t${says}` },
};

export const completionCommand = (root: () => CommandGroup): CommandSpec => ({
  name: "completion",
  summary: "Print a script for your shell's completion",
  description: ["The script is for a command named prooftrail on your PATH."],
  arguments: [{ name: "shell", description: "which one", choices: Object.keys(SHELLS) }],
  options: [jsonOption("the script inside one JSON document")],
  examples: [
    ["in this bash", "source <(prooftrail completion bash)"],
    ["in every fish", "prooftrail completion fish > ~/.config/fish/completions/prooftrail.fish"],
  ],
  run: async (input, context) => {
    const { out, environment } = context;
    const shell = input.argument("shell") ?? "";
    const { script = "", line = ({ word }: Completion) => word } = SHELLS[shell] ?? {};
    const typed = environment[LINE];
    if (typed !== undefined) {
      const found = completionsOf(root(), typed.split(/\s+/));
      const lines = found === "files" ? [FILES] : found.map(line);
      await out.write(lines.map((each) => `${each}\n`).join(""));
      return EXIT.ok;
    }
    await printAnswer(context, input, { data: { shell, script } }, () => script);
    return EXIT.ok;
  },
});

/** What the last of these words may become; the first is the name of the program. Pure. */
export const completionsOf = (
  root: CommandGroup,
  [, ...words]: readonly string[],
): readonly Completion[] | "files" => {
  const current = words.at(-1) ?? "";
  let node: CommandNode = root;
  let asked: OptionSpec | undefined;
  for (const word of words.slice(0, -1)) {
    const option: OptionSpec | undefined =
      asked || isGroup(node) ? undefined : node.options.find(({ flag }) => flag === word);
    if (isGroup(node)) node = node.commands.find(({ name }) => name === word) ?? node;
    asked = option?.value === undefined ? undefined : option;
  }
  const found = asked ? valuesOf(asked) : current.startsWith("-") ? optionsOf(node, root) : wordsOf(node);
  return found === "files" ? found : found.filter(({ word }) => word.startsWith(current));
};

const valuesOf = ({
  choices,
  isFile,
  description,
}: OptionSpec | ArgumentSpec): readonly Completion[] | "files" =>
  isFile ? "files" : (choices ?? []).map((word) => ({ word, says: description }));

const wordsOf = (node: CommandNode): readonly Completion[] | "files" => {
  if (isGroup(node)) return node.commands.map(({ name, summary }) => ({ word: name, says: summary }));
  const values = (node.arguments ?? []).map(valuesOf);
  return values.includes("files") ? "files" : values.flatMap((each) => (each === "files" ? [] : each));
};

const optionsOf = (node: CommandNode, root: CommandGroup): readonly Completion[] => [
  ...(isGroup(node) ? [] : node.options.map(({ flag, description }) => ({ word: flag, says: description }))),
  { word: "--help", says: "help" },
  ...(node === root ? [{ word: "--version", says: "print the version" }] : []),
];
