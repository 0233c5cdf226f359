/** Input that is not a file, is cut off, beyond the calendar or missing: the message says so, and so does the exit code. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { createApi } from "../../src/cli/api.ts";
import { Interrupted } from "../../src/cli/failure.ts";
import { testBrokerBinary } from "../support/broker.ts";
import { builtProgram } from "../support/built-program.ts";
import { CLI_MAIN, runCli, startCli } from "../support/cli.ts";
import { WAIT_MS_MAX } from "../support/time-limits.ts";
import { until } from "../support/until.ts";

/** A new one for each test. */
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prooftrail-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A service that answers so, and the option that names it. */
const serving = (fetch: (request: Request) => Response | Promise<Response>) => {
  const server = Bun.serve({ port: 0, fetch });
  const url = `http://127.0.0.1:${server.port}`;
  return { url, named: ["--url", url], [Symbol.asyncDispose]: () => server.stop(true) };
};
const environment = { PROOFTRAIL_API_KEY: "ptk_a_b_c" };
/** Root may do everything in every folder, unless it gives up this right (capabilities(7)). */
const isRoot = process.getuid?.() === 0;
const asAnyUser = async (): Promise<readonly [string, ...string[]]> => {
  const program = await builtProgram();
  return isRoot ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search", program] : [program];
};
const canBeBound = spawnSync("setpriv", ["--bounding-set=-dac_override", "true"]).status === 0;
/** An address where nobody listens. */
const nowhere = ["--url", "http://127.0.0.1:9"];

test.skipIf(isRoot && !canBeBound)(
  "a views file that is readable but not writable stops the start",
  async () => {
    const file = join(folder, "views.sqlite");
    for (const end of ["", "-shm"]) writeFileSync(`${file}${end}`, "", { mode: 0o600 });
    chmodSync(`${file}-shm`, 0o400);
    const [command, ...before] = await asAnyUser();
    const started = spawnSync(command, [...before, "serve", "--port", "0"], {
      env: { PATH: process.env.PATH ?? "", DATA_DIR: folder, NATS_SERVER_BIN: await testBrokerBinary() },
      encoding: "utf8",
    });
    expect([started.status, started.stderr]).toEqual([
      1,
      expect.stringContaining(`The views in ${file} cannot be used: attempt to write a readonly database`),
    ]);
    expect(started.stderr).toContain("The user that runs the service must own it");
  },
);

test("doctor ends if the broker accepts its connection and says nothing, as one that stands still does", async () => {
  await using silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const doctor = spawn(await builtProgram(), ["doctor"], {
    env: { NATS_URL: `nats://127.0.0.1:${port}`, PROOFTRAIL_URL: "http://127.0.0.1:1" },
    timeout: WAIT_MS_MAX,
  });
  const [stdout, [status]] = await Promise.all([text(doctor.stdout), once(doctor, "exit")]);
  expect([status, stdout]).toEqual([
    1,
    expect.stringContaining(`No connection to NATS at nats://127.0.0.1:${port}`),
  ]);
});

test("a folder or a pipe is not an invalid bundle: nothing is decided about it", async () => {
  expect((await runCli(["verify", folder])).code).toBe(2);
  const script = `echo whatever | "$0" "$1" verify /dev/stdin`;
  expect(spawnSync("sh", ["-c", script, process.execPath, CLI_MAIN]).status).toBe(2);
});

test("a key for a folder that does not exist is not requested, and the path is named", async () => {
  const path = join(folder, "nowhere", "writer.key");
  const { code, err } = await runCli(
    ["keys", "create", "--scope", "events:write", "--save", path, ...nowhere],
    { environment },
  );
  expect([code, err]).toEqual([2, expect.stringContaining("in a folder that does")]);
});

test("if no key was made, no file remains that would block the next try", async () => {
  const path = join(folder, "writer.key");
  const create = ["keys", "create", "--scope", "events:write", "--save", path, ...nowhere];
  expect((await runCli(create, { environment })).code).toBe(3);
  expect(existsSync(path)).toBe(false);
});

test.each([
  ["create", ["--scope", "events:write"]],
  ["rotate", ["k"]],
])("Ctrl-C while keys %s waits for the answer leaves no such file either", async (command, more) => {
  const path = join(folder, "writer.key");
  const asked = Promise.withResolvers<void>();
  await using server = serving(() => {
    asked.resolve();
    return new Promise<Response>(() => {});
  });
  const url = server.url;
  await using cli = await startCli(["keys", command, ...more, "--save", path, "--url", url], { environment });
  await asked.promise;
  cli.child.kill("SIGINT");
  expect((await cli.ended()).code).toBe(130);
  expect(existsSync(path)).toBe(false);
});

test("a key that cannot be written to its file is named, so that it can be revoked", async () => {
  const path = join(folder, "writer.key");
  const data = { id: "k3Yb0Qz81mNd", tenant: "acme", scopes: ["events:write"], api_key: "ptk_a_b_c" };
  await using server = serving(() => Response.json({ data }, { headers: { "x-request-id": "r" } }));
  // No file may grow, as on a full disk.
  const script = `trap '' XFSZ; ulimit -f 0; exec "$0" "$@"`;
  const create = ["keys", "create", "--scope", "events:write", "--save", path, "--json"];
  const args = [CLI_MAIN, ...create, ...server.named];
  const child = spawn("sh", ["-c", script, process.execPath, ...args], {
    env: { PATH: process.env.PATH ?? "", ...environment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect([code, JSON.parse(err)]).toMatchObject([1, { code: "unwritten_output" }]);
  expect(JSON.parse(err).advice).toContain("prooftrail keys revoke k3Yb0Qz81mNd");
  expect(existsSync(path)).toBe(false);
});

describe("a named pipe", () => {
  const data = { accepted: 1, rejected: 0, duplicates: 0, errors: [] };
  const accepting = () =>
    serving(() => Response.json({ data }, { status: 202, headers: { "x-request-id": "r" } }));

  test("is read to its end, even if its writer has gone before it is read", async () => {
    const path = join(folder, "pipe");
    spawnSync("mkfifo", [path]);
    await using server = accepting();
    await using cli = await startCli(["send", path, ...server.named], { environment });
    const writer = spawn("sh", ["-c", `echo '{"event_id":"evt_1"}' > "$0"`, path], { stdio: "ignore" });
    expect(await once(writer, "close")).toEqual([0, null]);
    expect(await cli.ended()).toEqual({ code: 0, out: "1 event stored.\n", err: "" });
  });

  test("ends with Ctrl-C although nobody writes to it", async () => {
    const path = join(folder, "pipe");
    spawnSync("mkfifo", [path]);
    await using cli = await startCli(["send", path, ...nowhere], { environment });
    // Linux shows what a process waits for: here the other end of the pipe.
    const waits = () => readdirSync(`/proc/${cli.child.pid}/task`).length > 1;
    await until("it runs", waits);
    cli.child.kill("SIGINT");
    await cli.ended();
    expect(cli.child.signalCode ?? cli.child.exitCode).toBeOneOf(["SIGINT", 130]);
  });
});

test("one file is not used as input and output, nor as two outputs", async () => {
  const events = join(folder, "events.ndjson");
  const text = '{"event_id":"evt_1"}\n';
  writeFileSync(events, text);
  const state = join(folder, "state");
  const wrong = [
    [events, "--rejected", events],
    [events, "--rejected", join(folder, "..", basename(folder), "events.ndjson")],
    [events, "--resume", state, "--rejected", state],
  ];
  for (const args of wrong) {
    const { code, err } = await runCli(["send", ...args, ...nowhere], { environment });
    expect([args, code, err]).toEqual([args, 2, expect.stringContaining("is named twice")]);
  }
  expect([readFileSync(events, "utf8"), existsSync(state)]).toEqual([text, false]);
});

describe("a refusal whose body never ends", () => {
  /** The beginning of the refusal is sent at once. */
  const startRefusing = async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.once("data", () =>
        socket.write("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 100\r\n\r\n{"),
      );
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("it listens on a port");
    return {
      place: { url: `http://127.0.0.1:${address.port}`, isLoopback: true, source: "--url" },
      [Symbol.dispose]: () => {
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    };
  };
  const told = (asked: Promise<unknown>): Promise<unknown> => asked.catch((error: unknown) => error);

  test("is waited for no longer than its head may take", async () => {
    using refusing = await startRefusing();
    const api = createApi(refusing.place, undefined);
    const failure = await told(api.open({ path: "/v1/export", timeoutMs: 1000 }));
    expect(String(failure)).toContain("answered with status 503");
  });

  test("is not reported as a refusal if Ctrl-C ends the wait", async () => {
    using refusing = await startRefusing();
    const stopping = new AbortController();
    const api = createApi(refusing.place, undefined);
    const asked = told(api.open({ path: "/v1/export", signal: stopping.signal }));
    const begun = await api.attempt({ path: "/v1/export" });
    expect(begun).toBeInstanceOf(Response);
    stopping.abort();
    expect(await asked).toBeInstanceOf(Interrupted);
  });
});

test("a refused event can be read even if the line before it was cut off", async () => {
  const path = join(folder, "rejected.ndjson");
  writeFileSync(path, '{"line":1,"code":"inv');
  const refusal = { index: 0, code: "invalid_event", message: "m", errors: [] };
  const body = { data: { accepted: 0, rejected: 1, duplicates: 0, errors: [refusal] }, request_id: "r" };
  await using server = serving(() => Response.json(body, { status: 202, headers: { "x-request-id": "r" } }));
  await runCli(["send", "--rejected", path, ...server.named], {
    environment,
    input: '{"event_id":"evt_1"}\n',
  });
  expect(JSON.parse(readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
    line: 1,
  });
});

test("a time that no calendar has counts as wrong use", async () => {
  const create = ["keys", "create", "--scope", "events:write", "--expires-in", "999999999w", ...nowhere];
  const { code, err } = await runCli(create, { environment });
  expect([code, err]).toEqual([2, expect.stringContaining("--expires-in 999999999w")]);
});

test("the service's message during retries is printed as plain text, whatever it would do to the terminal", async () => {
  const problem = { code: "overloaded", title: "t", detail: "busy \u001b]0;owned\u0007.", status: 503 };
  const headers = { "content-type": "application/problem+json", "retry-after": "1" };
  await using server = serving(() => new Response(JSON.stringify(problem), { status: 503, headers }));
  const input = '{"event_id":"evt_1"}\n';
  const { err } = await runCli(["send", "--retry-for", "1s", ...server.named], { environment, input });
  expect(err).toContain("busy \\u{1b}]0;owned\\u{7}. Trying again.");
  expect(err).not.toContain("\u001b]0;");
});

describe("an answer that is not from Prooftrail is reported as such by every command", () => {
  const ASKING = [
    ["events", "list"],
    ["events", "list", "--json"],
    ["events", "get", "evt_1"],
    ["events", "tail"],
    ["export"],
    ["export", "--output", "made"],
    ["export", "--format", "csv", "--output", "made"],
    ["evidence", "--output", "made"],
    ["keys", "list"],
    ["keys", "create", "--scope", "events:read", "--save", "made"],
    ["keys", "revoke", "k", "--yes"],
    ["keys", "rotate", "k", "--save", "made"],
    ["classify", "--domain", "hiring"],
    ["send"],
  ];
  const page = () => new Response("<title>Log in</title>\n", { headers: { "content-type": "text/html" } });

  test.each([
    ["a proxy's page to log in", page, "text/html"],
    ["another service", () => Response.json({ status: "ok" }), "json"],
    [
      "another service that numbers its requests",
      () => Response.json({ status: "ok" }, { headers: { "x-request-id": "r" } }),
      "json",
    ],
  ])("%s", async (_, fetch, named) => {
    await using server = serving(fetch);
    const url = server.url;
    for (const args of ASKING) {
      const options = { environment, cwd: folder, input: '{"event_id":"evt_1"}\n' };
      const { code, out, err } = await runCli([...args, "--url", url], options);
      expect([args, code, out]).toEqual([args, 1, ""]);
      expect(err.toLowerCase()).toContain(`${url} (--url) answered with`.toLowerCase());
      expect(err.toLowerCase()).toContain(named);
      expect([args, readdirSync(folder)]).toEqual([args, []]);
    }
  });

  test("doctor does not report such a server as ready", async () => {
    await using server = serving(page);
    const args = ["doctor", "--json", ...server.named];
    const { out } = await runCli(args, { environment, cwd: folder });
    const checks: { name: string }[] = JSON.parse(out).data.checks;
    expect(checks.filter(({ name }) => ["http", "key"].includes(name))).toMatchObject([
      { name: "http", state: "failed", detail: expect.stringContaining("text/html") },
      { name: "key", state: "failed" },
    ]);
  });

  test("such a page ends a followed stream, which a service that is away for a while does not", async () => {
    const stream = (id: number) =>
      new Response(`retry: 1\nid: ${id}\nevent: audit\ndata: {"n":${id}}\n\n`, {
        headers: { "content-type": "text/event-stream", "x-request-id": "r" },
      });
    const away = () =>
      Response.json(
        { code: "not_ready", title: "t", detail: "d" },
        { status: 503, headers: { "retry-after": "0" } },
      );
    const answers = [() => stream(7), away, () => stream(9), page];
    const seen: unknown[] = [];
    await using server = serving(({ headers }) => {
      seen.push(headers.get("last-event-id"));
      return (answers.shift() ?? page)();
    });
    const { code, out, err } = await runCli(["events", "tail", "--json", ...server.named], { environment });
    expect([code, seen, out]).toEqual([1, [null, "7", "7", "9"], '{"n":7}\n{"n":9}\n']);
    expect(err).toContain("answered with text/html");
  });
});

describe("output that cannot be written is a failure with a reason", () => {
  const VERIFIER_MAIN = resolve(import.meta.dir, "../../src/proof/verifier/main.ts");

  /** Runs with standard output on a disk that is always full. */
  const runFull = async (main: string, args: readonly string[]) => {
    await using full = await open("/dev/full", "w");
    const child = spawn(process.execPath, [main, ...args], {
      env: { PATH: process.env.PATH ?? "", ...environment },
      stdio: ["ignore", full.fd, "pipe"],
    });
    if (!child.stderr) throw new Error("it was started with a pipe");
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    return { code, err };
  };

  test.each([
    ["export", ["export"]],
    ["events list", ["events", "list"]],
    ["events list as JSON", ["events", "list", "--json"]],
    ["keys list", ["keys", "list", "--json"]],
    ["a new key", ["keys", "create", "--scope", "events:read"]],
  ])("%s ends with exit code 1", async (_, args) => {
    const event = { event: { event_id: "evt_1", event_type: "asset.created" }, sequence: 1 };
    const answer = (request: Request): Response =>
      new URL(request.url).pathname === "/v1/export"
        ? new Response(`${JSON.stringify(event)}\n`, {
            headers: {
              "content-type": "application/x-ndjson",
              "x-prooftrail-last-sequence": "1",
              "x-request-id": "r",
            },
          })
        : Response.json(
            { data: request.method === "POST" ? { id: "k" } : [event], next_cursor: null },
            { headers: { "x-request-id": "r" } },
          );
    await using server = serving(answer);
    const { code, err } = await runFull(CLI_MAIN, [...args, ...server.named]);
    expect([code, err]).toEqual([1, expect.stringContaining("ENOSPC")]);
    if (args.includes("--json")) expect(JSON.parse(err)).toMatchObject({ code: "unwritten_output" });
    else expect(err).toContain("prooftrail: The output could not be written\n");
  });

  test.each([
    ["help", ["--help"]],
    ["completion", ["completion", "bash"]],
  ])("%s ends with exit code 1 too", async (_, args) => {
    expect((await runFull(CLI_MAIN, args)).code).toBe(1);
  });

  test.each([
    ["prooftrail verify", CLI_MAIN, ["verify"]],
    ["prooftrail-verify", VERIFIER_MAIN, []],
  ])("%s ends with exit code 2: 1 would say that the bundle is invalid", async (_, main, args) => {
    const path = join(folder, "bundle.zip");
    writeFileSync(path, "no ZIP");
    const { code, err } = await runFull(main, [...args, path]);
    expect([code, err]).toEqual([2, expect.stringContaining("output could not be written")]);
    expect(err).toContain("ENOSPC");
  });

  test.each([
    ["prooftrail verify", CLI_MAIN, "verify"],
    ["prooftrail-verify", VERIFIER_MAIN, "--json"],
  ])("%s keeps its verdict and prints no error if its reader has gone", async (_, main, arg) => {
    // One file of a bundle, and not the others: invalid.
    writeFileSync(join(folder, "key"), "");
    const child = spawn(process.execPath, [main, arg, folder], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect([code, err]).toEqual([1, ""]);
  });
});

describe("prooftrail-verify", () => {
  const main = resolve(import.meta.dir, "../../src/proof/verifier/main.ts");
  const verifier = (args: readonly string[], cwd: string) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
      cwd,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };

  test.each([
    ["no bundle", [], "wrong_use"],
    ["an option that is none", ["--colour", "a.zip"], "wrong_use"],
    ["an option without its value", ["a.zip", "--key"], "wrong_use"],
    ["a bundle that is not there", ["missing.zip"], "unreadable_file"],
    ["a key that is not there", ["--key", "missing", "bundle.zip"], "unreadable_file"],
  ])("reports %s as JSON for programs, and as text for people", (_, args, code) => {
    writeFileSync(join(folder, "bundle.zip"), "no ZIP");
    const told = verifier(["--json", ...args], folder);
    expect([told.status, told.stdout]).toEqual([2, ""]);
    expect(JSON.parse(told.stderr)).toMatchObject({ code, type: `urn:prooftrail:cli:${code}` });
    const text = verifier(args, folder);
    expect([text.status, text.stdout, text.stderr]).toEqual([2, "", expect.stringContaining("Usage:")]);
  });
});

describe("the file of an export", () => {
  const headers = {
    "content-type": "application/x-ndjson",
    "x-request-id": "r",
    "x-prooftrail-last-sequence": "1",
  };
  /** Answers after `meanwhile` is done. */
  const exporting = (meanwhile: () => void = () => {}) => {
    let asked = 0;
    const server = serving(() => {
      asked++;
      meanwhile();
      return new Response('{"n":1}\n', { headers });
    });
    const take = (cwd: string, path: string, ...more: readonly string[]) =>
      runCli(["export", `--output=${path}`, ...server.named, ...more], {
        environment,
        cwd,
      });
    return { take, asked: () => asked, [Symbol.asyncDispose]: server[Symbol.asyncDispose] };
  };

  test("is not overwritten if somebody else has made it meanwhile, unless --force is given", async () => {
    const path = join(folder, "events.ndjson");
    await using exports = exporting(() => writeFileSync(path, "his\n"));
    const { code, err } = await exports.take(folder, "events.ndjson");
    expect([code, err]).toEqual([2, expect.stringContaining("events.ndjson already exists.")]);
    expect([readFileSync(path, "utf8"), readdirSync(folder)]).toEqual(["his\n", ["events.ndjson"]]);
    expect((await exports.take(folder, "events.ndjson", "--force")).code).toBe(0);
    expect([readFileSync(path, "utf8"), readdirSync(folder)]).toEqual(['{"n":1}\n', ["events.ndjson"]]);
  });

  test("leaves no empty file under its name if its temporary file is removed meanwhile", async () => {
    await using exports = exporting(() => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
    });
    expect((await exports.take(folder, "events.ndjson")).code).toBe(2);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("may have the longest name that the system allows", async () => {
    await using exports = exporting();
    // In bytes (NAME_MAX); each of these characters has three.
    const name = `${"한".repeat(82)}.ndjson`;
    expect([Buffer.byteLength(name), await exports.take(folder, name)]).toMatchObject([253, { code: 0 }]);
    expect(readdirSync(folder)).toEqual([name]);
  });

  test.each([
    ["nothing", ""],
    ["a folder that is not there", "folder/"],
    ["a file in a folder that is not there", "folder/events.ndjson"],
    ["a file in a file", "file/events.ndjson"],
    ["a name that is too long", "a".repeat(256)],
    ["a link to nothing", "link"],
  ])("is refused before anything is requested if its path is %s", async (_, path) => {
    writeFileSync(join(folder, "file"), "");
    symlinkSync("nothing", join(folder, "link"));
    await using exports = exporting();
    const { code, out, err } = await exports.take(folder, path);
    expect([code, out, exports.asked()]).toEqual([2, "", 0]);
    expect(err).toStartWith("prooftrail: A file cannot be used\n");
    expect(readdirSync(folder).sort()).toEqual(["file", "link"]);
  });
});

test("an import that could not begin, because its resume point cannot be written, does not say that it stopped", async () => {
  const resume = join(folder, "missing", "events.resume");
  const input = '{"event_id":"evt_1"}\n';
  const { code, out, err } = await runCli(["send", "--resume", resume, ...nowhere], { environment, input });
  expect([code, out]).toEqual([2, ""]);
  expect(err).toStartWith("prooftrail: A file cannot be used\n  The resume point ");
});

test("a key file that exists but cannot be read, such as another user's, is not reported as missing", async () => {
  const path = join(folder, "admin.key");
  // Nobody can follow a link to itself, not even root.
  symlinkSync("admin.key", path);
  const options = { environment: { DATA_DIR: folder } };
  const { code, err } = await runCli(["events", "list", ...nowhere], options);
  expect([code, err]).toEqual([4, expect.stringContaining("admin.key cannot be read: ELOOP")]);
  expect(err).not.toContain("There is no /");
});
