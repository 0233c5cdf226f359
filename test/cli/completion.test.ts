/** What the program offers at every place of the command tree, and the printed scripts in the shells that this machine has. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { type CommandNode, isGroup } from "../../src/cli/command.ts";
import { completionsOf } from "../../src/cli/commands/completion.ts";
import { ROOT } from "../../src/cli/tree.ts";

const offered = (line: string): readonly string[] => {
  const found = completionsOf(ROOT, line.split(" "));
  return found === "files" ? [found] : found.map(({ word }) => word);
};

interface Place {
  readonly line: string;
  readonly node: CommandNode;
}
const placesOf = (node: CommandNode, line = "prooftrail"): readonly Place[] => [
  { line, node },
  ...(isGroup(node) ? node.commands.flatMap((child) => placesOf(child, `${line} ${child.name}`)) : []),
];

test("every command, option and choice of the tree is offered, and nothing else", () => {
  const places = placesOf(ROOT);
  expect(places.length).toBeGreaterThan(30);
  for (const { line, node } of places) {
    const options = isGroup(node) ? [] : node.options;
    const version = node === ROOT ? ["--version"] : [];
    expect(offered(`${line} --`)).toEqual([...options.map(({ flag }) => flag), "--help", ...version]);
    if (isGroup(node)) expect(offered(`${line} `)).toEqual(node.commands.map(({ name }) => name));
    for (const { flag, value, choices = [], isFile } of options)
      if (value !== undefined) expect(offered(`${line} ${flag} `)).toEqual(isFile ? ["files"] : choices);
  }
});

test("the value of an option is not a command, and a path is left to the shell", () => {
  expect(offered("prooftrail keys create --tenant list --expires-a")).toEqual(["--expires-at"]);
  expect(offered("prooftrail send ev")).toEqual(["files"]);
  expect(offered("prooftrail completion z")).toEqual(["zsh"]);
});

const MAIN = resolve(import.meta.dir, "../../src/cli/main.ts");
const SHELLS: Readonly<Record<string, string>> = {
  bash: `
prooftrail() { "$BUN" "$MAIN" "$@"; }
source <(prooftrail completion bash)
compopt() { :; }
while IFS= read -r line; do
  COMP_LINE=$line COMP_POINT=\${#line} _prooftrail
  echo "\${COMPREPLY[*]}"
done`,
  zsh: `
prooftrail() { "$BUN" "$MAIN" "$@"; }
compdef() { :; }
source <(prooftrail completion zsh)
_files() { print files; }
_describe() { print -r -- "\${(@P)2}"; }
while IFS= read -r line; do
  words=("\${(@s: :)line}"); CURRENT=$#words
  _prooftrail
done`,
  fish: `
function prooftrail; $BUN $MAIN $argv; end
prooftrail completion fish | source
while read -l line
  complete -C "$line"
end
true`,
};

test.each(Object.keys(SHELLS).filter((shell) => Bun.which(shell) !== null))(
  "%s offers what the program answers",
  (shell) => {
    const lines = ["prooftrail keys create --tenant acme --sc", "prooftrail events list --risk-tier p"];
    const { stdout, stderr, status } = spawnSync(shell, ["-c", SHELLS[shell] ?? ""], {
      input: [...lines, "prooftrail keys create --scope events:w", ""].join("\n"),
      encoding: "utf8",
      env: { ...process.env, BUN: process.execPath, MAIN },
    });
    expect([stderr, status]).toEqual(["", 0]);
    // bash takes what stands behind a colon for a word of its own.
    const write = shell === "bash" ? "write" : shell === "zsh" ? "events\\:write" : "events:write";
    const words = stdout
      .trimEnd()
      .split("\n")
      .map((text) => text.replace(shell === "zsh" ? /(?<=[^\\]):.*/ : /\t.*/, ""));
    expect(words).toEqual(["--scope", "prohibited", write]);
  },
);
