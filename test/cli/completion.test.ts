/**
 * The printed script in a real bash: what it offers at every place of the command tree. Not every machine has zsh and
 * fish: their scripts are compared with the tree.
 */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { bashScript } from "../../src/cli/completion/bash.ts";
import { fishScript } from "../../src/cli/completion/fish.ts";
import { placesOf } from "../../src/cli/completion/words.ts";
import { zshScript } from "../../src/cli/completion/zsh.ts";
import { ROOT } from "../../src/cli/tree.ts";

const places = placesOf(ROOT);

/** What bash offers at the end of each line, all in one bash process. */
const offered = (lines: readonly string[]): readonly (readonly string[])[] => {
  const driver = `
compopt() { :; }
while IFS= read -r line; do
  COMP_LINE=$line COMP_POINT=\${#line} _prooftrail
  echo "\${COMPREPLY[*]}"
done`;
  const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-c", `${bashScript(places)}${driver}`], {
    input: lines.map((line) => `${line}\n`).join(""),
    encoding: "utf8",
  });
  expect([stderr, status]).toEqual(["", 0]);
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split(" ").filter((word) => word !== ""));
};

test("bash offers every command, option and choice of the tree, and nothing else", () => {
  const asked = places.flatMap((place) => {
    const line = ["prooftrail", ...place.path].join(" ");
    const options = place.options.map(({ word }) => word);
    const choices = place.options.flatMap(({ word, value }) =>
      typeof value === "string" ? [] : [{ line: `${line} ${word} `, offers: value }],
    );
    return [
      { line: `${line} `, offers: [...place.commands.map(({ word }) => word), ...place.choices] },
      { line: `${line} --`, offers: options },
      ...choices,
    ];
  });
  const found = offered(asked.map(({ line }) => line));
  expect(asked.map(({ line }, index) => ({ line, offers: found[index] }))).toEqual(
    asked.map(({ line, offers }) => ({ line, offers: [...offers] })),
  );
  expect(asked.length).toBeGreaterThan(50);
});

test("bash completes after options and their values, and inside a word that bash splits at its colon", () => {
  const lines = [
    "prooftrail keys create --tenant acme --sc",
    "prooftrail keys create --scope events:w",
    "prooftrail events list --order desc --risk-tier p",
    // The value of an option is not a command.
    "prooftrail keys create --tenant list --expires-a",
  ];
  expect(offered(lines)).toEqual([["--scope"], ["write"], ["prohibited"], ["--expires-at"]]);
});

test("the scripts for zsh and fish name every command and option of the tree", () => {
  const [zsh, fish] = [zshScript(places), fishScript(places)];
  for (const { path, options, commands } of places) {
    expect(zsh).toContain(`"${path.join(" ")}")`);
    for (const { word } of options) {
      expect(zsh).toContain(`'${word}:`);
      expect(fish).toContain(`__prooftrail_place '${path.join(" ")}'" -l ${word.slice(2)}`);
    }
    for (const { word } of commands)
      expect(fish).toContain(`__prooftrail_place '${path.join(" ")}'" -a ${word} `);
  }
});
