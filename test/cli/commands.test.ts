/** Promises of every command, tested by looping over the tree: a new command cannot miss them. Nothing is started. */
import { describe, expect, test } from "bun:test";
import { EVENT_FILTER, STREAM_FILTER } from "../../src/api/http/event-filter.ts";
import { type CommandGroup, type CommandNode, type CommandSpec, isGroup } from "../../src/cli/command.ts";
import { FACT_OPTIONS } from "../../src/cli/commands/classify.ts";
import { EVENT_FILTER_OPTIONS, STREAM_FILTER_OPTIONS } from "../../src/cli/event-filters.ts";
import { readInvocation, runProgram } from "../../src/cli/program.ts";
import { ROOT } from "../../src/cli/tree.ts";
import { ClassificationRequest, UNREAD_MEMBERS } from "../../src/law/classification/request.ts";
import { createTestContext } from "../support/cli.ts";

interface Found<Node> {
  readonly path: readonly string[];
  readonly node: Node;
}

const nodesUnder = (node: CommandNode, path: readonly string[]): readonly Found<CommandNode>[] => [
  { path, node },
  ...(isGroup(node) ? node.commands.flatMap((child) => nodesUnder(child, [...path, child.name])) : []),
];
const nodes = nodesUnder(ROOT, []);
const commands = nodes.filter((found): found is Found<CommandSpec> => !isGroup(found.node));
const groups = nodes.filter((found): found is Found<CommandGroup> => isGroup(found.node));

const helpOf = (path: readonly string[]): string => {
  const told = readInvocation(ROOT, [...path, "--help"]);
  if (told.kind !== "told") throw new Error(`${path.join(" ")} --help is ${told.kind}`);
  return told.text;
};

/** Splits words as a shell does: quotation marks keep words together, a backslash at the end continues the line. */
const wordsOf = (command: string): readonly string[] =>
  Array.from(
    command.replaceAll("\\\n", " ").matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g),
    ([, single, double, plain]) => single ?? double ?? plain ?? "",
  );

test("the list of commands is complete", () => {
  expect(commands.map(({ path }) => path.join(" "))).toEqual([
    "serve",
    "demo",
    "console",
    "keys create",
    "keys list",
    "keys revoke",
    "keys rotate",
    "send",
    "events list",
    "events get",
    "events tail",
    "decisions list",
    "decisions get",
    "objections list",
    "obligations list",
    "assets list",
    "assets get",
    "incidents list",
    "coverage list",
    "holds list",
    "retention",
    "classify",
    "export",
    "evidence",
    "verify",
    "views status",
    "views rebuild",
    "views verify",
    "views dead-letter list",
    "views dead-letter replay",
    "doctor",
    "restore accept",
    "completion",
  ]);
});

describe("every command", () => {
  test.each(nodes.map(({ path }) => [path.join(" "), path] as const))(
    "prooftrail %s: its help fits 80 columns and lists the exit codes",
    (_, path) => {
      const help = helpOf(path);
      expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
      expect(help).toContain("\nExit codes:\n");
      expect(help).toContain("--help");
    },
  );

  test("has --json, an example, and no option twice", () => {
    for (const { path, node } of commands) {
      const flags = node.options.map(({ flag }) => flag);
      expect([path, flags]).toEqual([path, [...new Set(flags)]]);
      expect([path, flags]).toEqual([path, expect.arrayContaining(["--json"])]);
      expect([path, node.examples.length > 0]).toEqual([path, true]);
      expect([path, flags.filter((flag) => !/^--[a-z]+(-[a-z]+)*$/.test(flag))]).toEqual([path, []]);
    }
  });

  test("takes no key as an argument, where everybody could read it", () => {
    const flags = commands
      .flatMap(({ node }) => node.options)
      .filter(({ flag }) => /key|secret|token/.test(flag));
    expect(flags.filter(({ isFile }) => !isFile)).toEqual([]);
  });

  test("understands the examples of its own help", () => {
    const examples = nodes.flatMap(({ node }) => node.examples ?? []);
    const typed = examples
      .flatMap(([, command]) => command.replaceAll("\\\n", " ").split("\n"))
      .flatMap((line) => line.split(/[|>]|<\(/))
      .map((part) => wordsOf(part.replace(")", "")))
      .filter(([program]) => program === "prooftrail");
    expect(typed.length).toBeGreaterThan(commands.length);
    for (const [, ...words] of typed) {
      const { kind } = readInvocation(ROOT, words);
      expect([words, kind]).toEqual([words, words.includes("--help") ? "told" : "run"]);
    }
  });
});

describe("wrong use ends with exit code 2 and says what was meant", () => {
  const wrong = async (...args: string[]) => {
    const context = createTestContext({});
    const code = await runProgram(ROOT, args, context);
    expect(context.out.text).toBe("");
    return [code, context.err.text] as const;
  };

  const cases: readonly { readonly args: readonly string[]; readonly says: readonly string[] }[] = [
    { args: ["keyz"], says: ["(Did you mean keys?)", "See: prooftrail --help"] },
    { args: ["keys", "lst"], says: ["(Did you mean list?)", "See: prooftrail keys --help"] },
    {
      args: ["events", "list", "--limt", "3"],
      says: ["(Did you mean --limit?)", "See: prooftrail events list --help"],
    },
    { args: ["events", "list", "--limit", "01"], says: ["Give a whole number, 1 or more.", "--limit"] },
    { args: ["events", "list", "--limit", "0"], says: ["Give a whole number, 1 or more.", "--limit"] },
    { args: ["events", "list", "--limit", "3", "--limit", "4"], says: ["Given twice", "--limit"] },
    { args: ["events", "list", "--tag", "team"], says: ["Give a tag as key=value.", "--tag"] },
    { args: ["keys", "create"], says: ["Give --scope for what the key may do, or --role for a seat."] },
    {
      args: ["keys", "create", "--scope", "all"],
      says: ["events:write, events:read, keys:manage", "--scope"],
    },
    { args: ["keys", "rotate"], says: ["missing required argument 'id'", "prooftrail keys rotate --help"] },
    { args: ["keys", "rotate", "a", "b"], says: ["too many arguments", "prooftrail keys rotate --help"] },
    {
      args: ["keys", "rotate", "a", "--grace", "soon"],
      says: ["Give a time such as 45s, 10m, 1h, 90d or 2w.", "--grace"],
    },
    { args: ["keys", "rotate", "a", "--grace", "8d"], says: ["Give a week at most: 7d.", "--grace"] },
    { args: ["events", "get", "stream"], says: ["Give an event_id", "events tail"] },
    { args: ["events", "get", ""], says: ["Give an id", "event_id", "prooftrail events get --help"] },
    { args: ["events", "get", "."], says: ["Give an id", "event_id"] },
    { args: ["keys", "revoke", "..", "--yes"], says: ["Give an id", "prooftrail keys revoke --help"] },
    { args: ["keys", "rotate", ""], says: ["Give an id", "prooftrail keys rotate --help"] },
    { args: ["completion", "csh"], says: ["bash, zsh, fish", "prooftrail completion --help"] },
    {
      args: ["send", "--fill", "--resume", "file"],
      says: ["--fill goes neither with --resume nor with --resent", "→"],
    },
    {
      args: ["events", "list", "--url", "ftp://x"],
      says: ["The address from --url must be like", "prooftrail:"],
    },
  ];
  test.each(cases)("$args", async ({ args, says }) => {
    const [code, text] = await wrong(...args);
    expect(code).toBe(2);
    for (const part of says) expect(text).toContain(part);
  });

  test("a group without a command lists its commands", async () => {
    for (const { path, node } of groups) {
      const [code, text] = await wrong(...path);
      expect(code).toBe(2);
      for (const { name } of node.commands) expect(text).toContain(`\n  ${name}`);
    }
  });

  test("as one JSON document, if --json is given", async () => {
    const [code, text] = await wrong("keys", "create", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(text)).toMatchObject({ code: "wrong_use", detail: expect.stringContaining("--scope") });
  });
});

describe("the command line and the API have the same", () => {
  const parametersOf = (options: readonly { readonly flag: string }[]): string[] =>
    options.map(({ flag }) => flag.slice(2).replaceAll("-", "_")).sort();
  // The command line has an option for each tag, OpenAPI has one object for all.
  const namesOf = (parameters: readonly { readonly name: string }[]): string[] =>
    parameters.map(({ name }) => (name === "tags" ? "tag" : name)).sort();

  test("filters of events and of the live stream", () => {
    expect(parametersOf(EVENT_FILTER_OPTIONS)).toEqual(namesOf(EVENT_FILTER.documented));
    expect(parametersOf(STREAM_FILTER_OPTIONS)).toEqual(namesOf(STREAM_FILTER.documented));
  });

  test("facts of a classification, except those that are not read", () => {
    const facts = Object.keys(ClassificationRequest.properties).filter((name) => !(name in UNREAD_MEMBERS));
    expect(parametersOf(FACT_OPTIONS)).toEqual(facts.sort());
  });
});
