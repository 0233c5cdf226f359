import { expect, test } from "bun:test";
import { curlLine, eventsCommand } from "./command-lines.ts";

/** What a shell makes of a line, a word each. */
const wordsOf = (line: string): readonly string[] => {
  const shell = Bun.spawnSync(
    ["sh", "-c", `curl() { printf '%s\\0' "$@"; }; prooftrail() { curl "$@"; }; ${line}`],
    { env: { PROOFTRAIL_API_KEY: "the-key" } },
  );
  expect(shell.stderr.toString()).toBe("");
  return shell.stdout.toString().split("\0").slice(0, -1);
};

test.each([
  "plain",
  "it's",
  "'; touch /tmp/hacked; '",
  "$(id) `id` $PATH !! \\",
  '"quoted"',
  "-x",
  "a\nb",
  "<script>",
  "\u202Eright to left",
  "x".repeat(256),
])("a shell reads the value %p as it is", (value) => {
  expect(wordsOf(eventsCommand("http://h:1/", { not_asset_id: value, q: undefined }))).toEqual([
    "events",
    "list",
    "--url=http://h:1/",
    `--not-asset-id=${value}`,
  ]);
  const address = `http://h:1/v1/events?q=${value}`;
  expect(wordsOf(curlLine(address))).toEqual(["-H", "Authorization: Bearer the-key", address]);
});

test("the key is a variable", () => {
  expect(curlLine("http://h/")).toContain('Bearer $PROOFTRAIL_API_KEY"');
  expect(eventsCommand("http://h/", {})).toBe("prooftrail events list --url=http://h/");
});
