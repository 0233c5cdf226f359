/** Output cannot control a terminal; a file or a pipe gets exactly what the service sent. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { createPrintableCsv } from "../../src/cli/commands/export.ts";
import { runProgram } from "../../src/cli/program.ts";
import { ROOT } from "../../src/cli/tree.ts";
import { printableJson } from "../../src/runtime/printable.ts";
import { createTestContext } from "../support/cli.ts";

/** A window title set by C1 and by C0 controls, an overwritten line, reversed text, extra lines, a hidden tag. */
const HOSTILE = "a\u009d0;owned\u009c\u001b[2J\rb\u202ec\u2066d\u2028e\u0085f\u{e0041}\u200bg";
const STEERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const event = { event_id: "evt_1", event_type: "asset.created", metadata: { note: HOSTILE } };
/** A client may send it like this: with white space between members. */
const STORED = `{"sequence":1,"tenant":"acme","received_at":"2026-11-20T10:00:00Z","event":${JSON.stringify(event).replace('"metadata"', '\t\r "metadata"')}}`;
const CSV = `\ufeffevent_id,note\r\nevt_1,"${HOSTILE}"\r\n`;

const answer = (text: string, type: string, status = 200): Response =>
  new Response(text, {
    status,
    headers: { "content-type": type, "x-request-id": "r", "x-prooftrail-last-sequence": "1" },
  });

const PRETTY = { tags: { a: "b" }, metadata: { rows: [1, "two  spaces\n"], none: {} } };

const ANSWERS: Readonly<Record<string, () => Response>> = {
  "/v1/events": () => answer(`{"data":[${STORED}],"next_cursor":null,"request_id":"r"}`, "application/json"),
  "/v1/events/evt_1": () => answer(`{"data":${STORED},"request_id":"r"}`, "application/json"),
  "/v1/events/evt_pretty": () =>
    answer(`{"data":{"event":${JSON.stringify(PRETTY, null, "\t")}}}`, "application/json"),
  "/v1/keys": () => answer(JSON.stringify({ data: [{ id: "k", name: HOSTILE }] }), "application/json"),
  "/v1/export": () => answer(`${STORED}\n`, "application/x-ndjson"),
  "/v1/events/evt_slow": () =>
    new Response(JSON.stringify({ code: "rate_limited", title: "evt_1", detail: "d" }), {
      status: 429,
      headers: { "content-type": "application/problem+json", "retry-after": "5\u009d0;owned\u009c" },
    }),
  "/v1/sandbox/classify": () =>
    answer(
      JSON.stringify({ code: "invalid_request", title: HOSTILE, detail: HOSTILE, status: 400 }),
      "application/problem+json",
      400,
    ),
};

const folder = mkdtempSync(join(tmpdir(), "prooftrail-terminal-"));
let server: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    fetch: (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (searchParams.get("format") === "csv") return answer(CSV, "text/csv");
      return ANSWERS[pathname]?.() ?? answer("{}", "application/json", 404);
    },
  });
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true });
});

const told = async (args: readonly string[], columns?: number) => {
  const context = createTestContext({
    environment: { PROOFTRAIL_API_KEY: "ptk_a_b_c", PROOFTRAIL_URL: `http://127.0.0.1:${server.port}` },
    ...(columns !== undefined && { columns }),
  });
  await runProgram(ROOT, args, context);
  return { out: context.out.text, err: context.err.text };
};

const COMMANDS: readonly (readonly string[])[] = [
  ["events", "list"],
  ["events", "list", "--json"],
  ["events", "get", "evt_1"],
  ["events", "get", "evt_1", "--json"],
  ["events", "get", "evt_slow"],
  ["events", "get", "evt_slow", "--json"],
  ["keys", "list"],
  ["keys", "list", "--json"],
  ["export"],
  ["export", "--format", "csv"],
  ["classify", "--domain", "hiring"],
  ["classify", "--domain", "hiring", "--json"],
  ["verify", HOSTILE],
  ["verify", "--json", HOSTILE],
  ["export", "--output", join(folder, HOSTILE)],
  [HOSTILE],
  ["events", HOSTILE],
  ["events", "list", `--${HOSTILE}`],
  ["events", "list", "--limit", HOSTILE],
];

describe("texts that other people wrote", () => {
  test.each(COMMANDS.map((args) => [args.join(" ").replaceAll(HOSTILE, "…"), args] as const))(
    "do not control a terminal: %s",
    async (_, args) => {
      const { out, err } = await told(args, 80);
      const shown = out + err;
      expect(shown).toMatch(/owned|\\u001b|evt_1/);
      expect(STEERS.exec(shown.replaceAll(/\r?\n|\t/g, ""))).toBeNull();
    },
  );

  test("are the same in JSON on a terminal", async () => {
    const { data } = JSON.parse((await told(["events", "get", "evt_1", "--json"], 80)).out);
    expect(data.event).toEqual(event);
    expect(JSON.parse((await told(["events", "list", "--json"], 80)).out).data[0].event).toEqual(event);
    expect(JSON.parse((await told(["export"], 80)).out).event).toEqual(event);
  });

  test("are printed one member per line, even if the event was sent from a file with many lines", async () => {
    const { out } = await told(["events", "get", "evt_pretty"]);
    expect(out).toBe(
      '  tags      { "a": "b" }\n  metadata  { "rows": [ 1, "two  spaces\\n" ], "none": {} }\n',
    );
  });

  test("reach a file or a pipe byte for byte", async () => {
    expect((await told(["export"])).out).toBe(`${STORED}\n`);
    // The test's writer decodes, and a decoder removes the byte order mark.
    expect((await told(["export", "--format", "csv"])).out).toBe(CSV.slice(1));
    const { out } = await told(["events", "get", "evt_1", "--json"]);
    expect(out).toBe(`{"data":${STORED},"request_id":"r"}\n`);
  });
});

describe("an answer that is not from our service", () => {
  const said = (data: unknown, status = 200): Response =>
    answer(JSON.stringify({ data, request_id: "r" }), "application/json", status);
  const key = { id: HOSTILE, tenant: HOSTILE, scopes: [HOSTILE], api_key: HOSTILE };
  const refused = { index: 0, event_id: HOSTILE, code: HOSTILE, message: HOSTILE, errors: [] };
  const warned = { path: HOSTILE, message: HOSTILE };
  const SAID: Readonly<Record<string, () => Response>> = {
    "/v1/keys": () => said(key),
    "/v1/keys/k/rotate": () => said({ ...key, previous: { id: HOSTILE, grace_until: HOSTILE } }),
    [`/v1/keys/${encodeURIComponent(HOSTILE)}`]: () => said(key),
    "/v1/sandbox/classify": () => said({ risk_tier: HOSTILE, reasoning: HOSTILE, warnings: [warned] }),
    "/v1/events/batch": () => said({ accepted: 0, rejected: 1, duplicates: 0, errors: [refused] }, 202),
  };

  test.each([
    [["keys", "create", "--scope", "events:read"]],
    [["keys", "rotate", "k"]],
    [["keys", "rotate", "k", "--save", join(folder, `${HOSTILE}.key`)]],
    [["keys", "revoke", HOSTILE, "--yes"]],
    [["classify", "--domain", "hiring"]],
    // Progress overwrites its own line, but appears only where sending takes long.
    [["send", "--quiet"]],
  ])("does not control a terminal either: %j", async (args) => {
    await using other = Bun.serve({
      port: 0,
      fetch: (request) => SAID[new URL(request.url).pathname]?.() ?? said({}, 404),
    });
    const context = createTestContext({
      environment: { PROOFTRAIL_API_KEY: "ptk_a_b_c", PROOFTRAIL_URL: `http://127.0.0.1:${other.port}` },
      columns: 80,
    });
    await runProgram(ROOT, args, {
      ...context,
      input: { isTerminal: false, stream: Readable.from(["{}\n"].map(Buffer.from)) },
    });
    const shown = context.out.text + context.err.text;
    expect(shown).toContain("\\u{9d}0;owned");
    expect(STEERS.exec(shown.replaceAll("\n", ""))).toBeNull();
  });
});

test("a table that is split anywhere is printed as the whole table would be", () => {
  const text = 'a\r\nb\r"c"\n';
  for (let at = 0; at <= text.length; at++) {
    const show = createPrintableCsv();
    expect([at, show(text.slice(0, at)) + show(text.slice(at))]).toEqual([at, 'a\r\nb\\u{d}"c"\n']);
  }
});

test("white space in JSON stays, and texts in it keep their value", () => {
  expect(printableJson('{\r\n"a":\t"\u{e0041}\u009b"}')).toBe('{ \n"a":\t"\\udb40\\udc41\\u009b"}');
});

test("the standalone verifier prints its errors as printable text as well", () => {
  const main = resolve(import.meta.dir, "../../src/proof/verifier/main.ts");
  for (const name of ["\u009d0;owned\u009c\u202e", "--\u009d0;owned\u009c"]) {
    const { status, stderr } = spawnSync(process.execPath, [main, name], { encoding: "utf8" });
    expect([status, STEERS.test(stderr.replaceAll("\n", ""))]).toEqual([2, false]);
  }
});
