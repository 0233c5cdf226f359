/** `prooftrail completion`: a script with which a shell completes commands, options and their values. */
import type { CommandGroup, CommandSpec } from "../command.ts";
import { bashScript } from "../completion/bash.ts";
import { fishScript } from "../completion/fish.ts";
import { type Place, placesOf } from "../completion/words.ts";
import { zshScript } from "../completion/zsh.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../shared-options.ts";

const COMPLETION_SCRIPTS: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export const completionCommand = (root: () => CommandGroup): CommandSpec => ({
  name: "completion",
  summary: "Print a script for your shell's completion",
  description: ["The script is for a command named prooftrail on your PATH."],
  arguments: [{ name: "shell", description: "which one", choices: Object.keys(COMPLETION_SCRIPTS) }],
  options: [jsonOption("the script inside one JSON document")],
  examples: [
    { says: "in this bash", command: "source <(prooftrail completion bash)" },
    {
      says: "in every fish",
      command: "prooftrail completion fish > ~/.config/fish/completions/prooftrail.fish",
    },
  ],
  run: async (input, { out }) => {
    const shell = input.argument("shell") ?? "";
    const script = COMPLETION_SCRIPTS[shell]?.(placesOf(root())) ?? "";
    await out.write(input.isSet("--json") ? `${JSON.stringify({ data: { shell, script } })}\n` : script);
    return EXIT.ok;
  },
});
