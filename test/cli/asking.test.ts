/** What a command asks before it does anything: a person, the environment, files. In this process. */
import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { perSecondLimit } from "../../src/access/rate-limit.ts";
import { limitedRate, problem } from "../../src/api/http/problem.ts";
import { refusalOf } from "../../src/cli/api.ts";
import type { Input } from "../../src/cli/command.ts";
import { confirm } from "../../src/cli/confirm.ts";
import { findKey, readAddress } from "../../src/cli/service-address.ts";
import { createTestContext } from "../support/cli.ts";

const inputOf = (options: Readonly<Record<string, string | true>> = {}): Input => ({
  argument: () => undefined,
  text: (flag) => {
    const value = options[flag];
    return typeof value === "string" ? value : undefined;
  },
  texts: () => [],
  integer: () => undefined,
  isSet: (flag) => options[flag] === true,
});

describe("a person is asked before an action that cannot be undone", () => {
  test.each([
    ["y\n", true],
    ["YES\n", true],
    ["\n", false],
    ["no\n", false],
    ["", false],
  ])("the answer %j means %p", async (typed, expected) => {
    const stream = new PassThrough();
    const context = { ...createTestContext({ columns: 80 }), input: { isTerminal: true, stream } };
    stream.end(typed);
    expect(await confirm(context, inputOf(), () => "Sure?")).toBe(expected);
    expect(context.err.text).toBe(`Sure? [y/N] ${expected ? "" : "Nothing was done.\n"}`);
  });

  test("the question is plain text, whatever a name in it would do to the terminal", async () => {
    const stream = new PassThrough();
    const context = { ...createTestContext({ columns: 80 }), input: { isTerminal: true, stream } };
    stream.end("\n");
    await confirm(context, inputOf(), () => "Revoke n\u009b31m\u202ex?");
    expect(context.err.text).toStartWith("Revoke n\\u{9b}31m\\u{202e}x? [y/N] ");
  });

  test("without a terminal no person is asked, and --yes is needed", async () => {
    const context = createTestContext({});
    await expect(confirm(context, inputOf(), () => "Sure?")).rejects.toThrow("there is no terminal");
    expect(await confirm(context, inputOf({ "--yes": true }), () => "Sure?")).toBe(true);
  });
});

describe("the address of the service", () => {
  test("the option overrides the environment, and the environment overrides the default", () => {
    const environment = { PROOFTRAIL_URL: "https://audit.example.com/log/" };
    expect(readAddress(inputOf({ "--url": "http://127.0.0.1:9" }), environment)).toMatchObject({
      url: "http://127.0.0.1:9",
      isLoopback: true,
    });
    expect(readAddress(inputOf(), environment)).toMatchObject({
      url: "https://audit.example.com/log",
      isLoopback: false,
    });
    for (const base of ["https://audit.example.com/v1", "https://audit.example.com//v1/"])
      expect(readAddress(inputOf({ "--url": base }), {})).toMatchObject({ url: "https://audit.example.com" });
    expect(readAddress(inputOf(), {})).toMatchObject({ url: "http://127.0.0.1:8080", isLoopback: true });
    expect(readAddress(inputOf(), { PORT: "9090" })).toMatchObject({ url: "http://127.0.0.1:9090" });
  });

  test.each([
    "audit.example.com",
    "ftp://x",
    "http://key@host",
    "http://:key@host",
    "http://host/?a=1",
    "http://",
  ])("%s is not a valid address", (url) => {
    expect(() => readAddress(inputOf({ "--url": url }), {})).toThrow("The address from --url must be like");
  });
});

test("the copy of the admin key is used only for this machine, and only if no other key is named", async () => {
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-asking-"));
  await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
  await writeFile(join(folder, "admin.key"), "ptk_admin\n");
  await writeFile(join(folder, "named.key"), "ptk_named\n");
  await writeFile(join(folder, "letter.txt"), "Dear Sir or Madam\n");
  const here = readAddress(inputOf({ "--url": "http://[::1]:8080" }), {});
  const elsewhere = readAddress(inputOf({ "--url": "http://127.0.0.1.example.com" }), {});
  const environment = { DATA_DIR: folder };
  expect(await findKey(inputOf(), environment, here)).toMatchObject({ text: "ptk_admin" });
  expect(await findKey(inputOf(), environment, elsewhere)).toBeUndefined();
  const both = { ...environment, PROOFTRAIL_API_KEY: "ptk_environment" };
  expect(await findKey(inputOf(), both, here)).toMatchObject({ text: "ptk_environment" });
  const named = inputOf({ "--key-file": join(folder, "named.key") });
  expect(await findKey(named, both, elsewhere)).toMatchObject({ text: "ptk_named" });
  await expect(findKey(inputOf({ "--key-file": join(folder, "letter.txt") }), {}, here)).rejects.toThrow(
    "is no API key",
  );
});

test("the advice about a limit says when to retry", async () => {
  const context = { requestId: "", problemCode: undefined, isSandbox: false };
  const limited = { kind: "limited", limit: perSecondLimit("k", "events", 1), retryAfterSeconds: 3 } as const;
  const refused = problem(context, "rate_limited", limitedRate(limited, "k"));
  const { document } = await refusalOf(refused, readAddress(inputOf(), {}), undefined);
  expect(document).toMatchObject({
    code: "rate_limited",
    advice: "Wait, or send less at once. Retry after 3 s.",
  });
});
