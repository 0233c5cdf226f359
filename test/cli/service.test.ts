/** The commands as processes, against one real service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { remoteChecks } from "../../src/cli/commands/doctor.ts";
import { testBrokerBinary } from "../support/broker.ts";
import { CLI_MAIN, type CliOptions, runCli, startCli } from "../support/cli.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
let folder = "";

beforeAll(async () => {
  service = await startTestService();
  folder = await mkdtemp(join(tmpdir(), "prooftrail-cli-"));
  const events = Array.from({ length: 230 }, (_, index) =>
    event({ event_id: `evt_${index + 1}`, asset_id: index % 2 === 0 ? "credit_model" : "chat_bot" }),
  );
  // A number that no double can hold, to check that it is read back unchanged.
  const exact =
    '{"event_id":"evt_exact","timestamp":"2026-11-20T10:00:00Z","asset_id":"exact","event_type":"asset.created","metadata":{"n":12345678901234567890.10,"text":"=1+1"}}';
  await service.call("/v1/events/batch", { body: { events } });
  const sent = await service.call("/v1/events", { body: exact });
  await service.call(`/v1/events?min_sequence=${sent.json.data.sequence}`);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const settings = (): Record<string, string> => ({
  PROOFTRAIL_URL: service.url,
  PROOFTRAIL_API_KEY: service.adminKey,
});
const cli = (args: readonly string[], options: CliOptions = {}) =>
  runCli(args, { cwd: folder, environment: settings(), ...options });

describe("keys", () => {
  test("a key is made, listed, rotated and revoked; its secret is printed once, or written to a file that only its owner can read", async () => {
    const made = await cli([
      "keys",
      "create",
      "--tenant",
      "acme",
      "--name",
      "삼성 acme",
      "--scope",
      "events:read",
      "--expires-in",
      "90d",
      "--events-per-second",
      "500",
      "--json",
    ]);
    const { data } = JSON.parse(made.out);
    expect(data).toMatchObject({
      tenant: "acme",
      name: "삼성 acme",
      scopes: ["events:read"],
      rate_limit: { events_per_second: 500 },
    });
    expect(Date.parse(data.expires_at) - Date.now()).toBeGreaterThan(89 * 24 * 3600 * 1000);

    const listed = await cli(["keys", "list", "--tenant", "acme"]);
    expect(listed.out).toMatch(
      new RegExp(
        `^ID +TENANT +NAME +ROLE +SCOPES +STATE\n${data.id}  acme    삼성 acme +events:read  until \\d{4}-`,
      ),
    );
    await cli([
      "keys",
      "create",
      "--tenant",
      "seats",
      "--role",
      "auditor",
      "--person",
      "j.kim@audit.example",
    ]);
    const seats = await cli(["keys", "list", "--tenant", "seats"]);
    expect(seats.out).toMatch(/seats +j\.kim@audit\.example +auditor +events:read +active/);

    const rotated = await cli(["keys", "rotate", data.id, "--grace", "1h", "--save", "new.key"]);
    expect([rotated.code, rotated.err]).toEqual([0, ""]);
    expect(rotated.out).toContain(`The old key ${data.id} works until`);
    expect(rotated.out).not.toContain("ptk_");
    expect(statSync(join(folder, "new.key")).mode & 0o777).toBe(0o600);
    const withFile = await cli(["events", "list", "--key-file", "new.key", "--json"], {
      environment: { PROOFTRAIL_URL: service.url },
    });
    expect(JSON.parse(withFile.out)).toMatchObject({ data: [], next_cursor: null });

    const asked = await cli(["keys", "revoke", data.id]);
    expect(asked.code).toBe(2);
    expect(asked.err).toContain("--yes");
    const revoked = await cli(["keys", "revoke", data.id, "--yes"]);
    expect([revoked.code, revoked.out]).toEqual([0, `The key ${data.id} is revoked.\n`]);
  });

  test("an existing file is not overwritten, and no key is made for it", async () => {
    await writeFile(join(folder, "taken.key"), "kept");
    const before = (await service.call("/v1/keys")).json.data.length;
    const { code, err } = await cli(["keys", "create", "--scope", "events:read", "--save", "taken.key"]);
    expect(code).toBe(2);
    expect(err).toContain("taken.key cannot be created");
    expect(readFileSync(join(folder, "taken.key"), "utf8")).toBe("kept");
    expect((await service.call("/v1/keys")).json.data).toHaveLength(before);
  });
});

describe("each failure is reported with advice and its own exit code", () => {
  const cases: readonly {
    name: string;
    environment: Record<string, string>;
    code: number;
    says: readonly string[];
  }[] = [
    {
      name: "nobody listens",
      environment: { PROOFTRAIL_URL: "http://127.0.0.1:1", PROOFTRAIL_API_KEY: "k" },
      code: 3,
      says: ["nothing listens there", "prooftrail serve"],
    },
    {
      name: "no key for another machine",
      environment: { PROOFTRAIL_URL: "http://audit.invalid" },
      code: 4,
      says: ["There is no API key", "--key-file"],
    },
    {
      name: "a key that is none",
      environment: { PROOFTRAIL_API_KEY: "ptk_wrong" },
      code: 4,
      says: ["The key is misspelt", "The key is from PROOFTRAIL_API_KEY"],
    },
  ];
  test.each(cases)("$name", async ({ environment, code, says }) => {
    const result = await cli(["events", "list"], {
      environment: { PROOFTRAIL_URL: service.url, ...environment },
    });
    expect([result.code, result.out]).toEqual([code, ""]);
    for (const text of says) expect(result.err).toContain(text);
  });

  test("an invalid filter is named as the option it is; with --json the output is the API's own document", async () => {
    const told = await cli(["events", "list", "--from", "yesterday"]);
    expect(told.code).toBe(2);
    expect(told.err).toContain("--from: from is not valid: send a time as RFC 3339");
    expect(told.err).toMatch(/request_id [0-9a-f-]{36}/);
    const beyond = await cli(["events", "tail", "--after", "999999"]);
    expect([beyond.code, beyond.err]).toEqual([2, expect.stringContaining("--after: The log ends at")]);
    const json = await cli(["events", "get", "nope", "--json"]);
    expect([json.code, json.out]).toEqual([1, ""]);
    expect(JSON.parse(json.err)).toMatchObject({
      code: "not_found",
      status: 404,
      request_id: expect.any(String),
    });
  });

  test("a new user's key is found next to the service, and only for a service on this machine", async () => {
    await using _data = {
      [Symbol.asyncDispose]: () => rm(join(folder, "data"), { recursive: true, force: true }),
    };
    await Bun.write(join(folder, "data", "admin.key"), `${service.adminKey}\n`);
    const found = await cli(["events", "list", "--limit", "1"], {
      environment: { PROOFTRAIL_URL: service.url },
    });
    expect([found.code, found.err]).toEqual([0, "There are more: --limit, or --all.\n"]);
  });
});

describe("more keys than one page of the API has", () => {
  let own = "";
  beforeAll(async () => {
    for (let made = 0; made < 205; made++)
      await service.call("/v1/keys", { body: { tenant: "many", scopes: ["events:read"] } });
    const scopes = ["events:read", "keys:manage"];
    const body = { tenant: "many", scopes, expires_at: new Date(Date.now() + 3_600_000) };
    own = (await service.call("/v1/keys", { body })).json.data.api_key;
  });
  const ofOwn = () => ({ environment: { ...settings(), PROOFTRAIL_API_KEY: own } });

  test("are all listed, as text and as one JSON document", async () => {
    const shown = await cli(["keys", "list", "--tenant", "many"]);
    expect(shown.out.trimEnd().split("\n").length).toBe(1 + 206);
    const { data, next_cursor } = JSON.parse((await cli(["keys", "list", "--json"], ofOwn())).out);
    expect(new Set(data.map(({ id }: { id: string }) => id)).size).toBe(206);
    expect(next_cursor).toBeNull();
  });

  test("hide no key that ends soon from doctor", async () => {
    const { out } = await cli(["doctor"], ofOwn());
    expect(out).toContain("it ends at ");
  });

  test("hide no key from a revocation", async () => {
    const id = own.split("_")[1] ?? "";
    const { err } = await cli(["keys", "revoke", id], ofOwn());
    expect(err).toContain("Nobody can be asked here");
  });
});

describe("events", () => {
  test("a list continues over pages, and a search finds its events", async () => {
    const all = await cli(["events", "list", "--all", "--order", "asc", "--json"]);
    const { data, next_cursor } = JSON.parse(all.out);
    expect(data.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      Array.from({ length: 231 }, (_, index) => index + 1),
    );
    expect(next_cursor).toBeNull();
    expect(all.out).toContain('"n":12345678901234567890.10');
    const found = await cli("events list --asset-id chat_bot --limit 2 --event-type decision.*".split(" "));
    expect(found.out.split("\n").slice(1, 3)).toEqual([
      "   230  2026-11-20T10:00:00Z  decision.automated_decision_made  chat_bot  evt_230",
      "   228  2026-11-20T10:00:00Z  decision.automated_decision_made  chat_bot  evt_228",
    ]);
  });

  test("one event is printed as it was sent", async () => {
    const { out } = await cli(["events", "get", "evt_exact"]);
    expect(out).toContain('  metadata     {"n":12345678901234567890.10,"text":"=1+1"}\n');
  });

  test("a reader that leaves early causes no error", async () => {
    const script = `{ "$0" "$1" events list --all; echo "ended with $?" >&2; } | head -1`;
    const child = Bun.spawn(["sh", "-c", script, process.execPath, CLI_MAIN], {
      env: { PATH: process.env.PATH ?? "", ...settings() },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(err).toBe("ended with 0\n");
    expect(out).toStartWith("   SEQ  TIMESTAMP");
  });

  test("tail continues where it was cut off, without gap or repeat, and ends with exit code 0 by Ctrl-C", async () => {
    await using link = await startLink(new URL(service.url).port);
    await using tail = await startCli(["events", "tail", "--after", "225", "--json"], {
      environment: { ...settings(), PROOFTRAIL_URL: link.url },
    });
    const sequences = (): number[] =>
      tail.out
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line))
        .map(({ sequence, event: { event_id } }) => (event_id.startsWith("evt_tail") ? -1 : sequence));
    await until("it has seen what is there", () => sequences().length === 6);
    link.cut();
    await service.call("/v1/events", { body: event({ event_id: "evt_tail_1" }) });
    await until("it has seen what came meanwhile", () => sequences().length === 7);
    await service.call("/v1/events", { body: event({ event_id: "evt_tail_2" }) });
    await until("it sees what comes now", () => sequences().length === 8);
    tail.child.kill("SIGINT");
    const { code, err } = await tail.ended();
    expect(sequences()).toEqual([226, 227, 228, 229, 230, 231, -1, -1]);
    expect([code, JSON.parse(err)]).toMatchObject([0, { code: "connecting_again" }]);
  });
});

describe("export and evidence", () => {
  test("a file contains every match, and is not overwritten", async () => {
    const made = await cli(["export", "--asset-id", "chat_bot", "--output", "bot.ndjson"]);
    expect(made.out).toMatch(/^bot\.ndjson has 115 events, [\d.]+ KB, up to sequence \d+ of the log\.\n$/);
    expect(readFileSync(join(folder, "bot.ndjson"), "utf8").split("\n")).toHaveLength(116);
    const again = await cli(["export", "--output", "bot.ndjson", "--json"]);
    expect(again.code).toBe(2);
    expect(JSON.parse(again.err)).toMatchObject({ detail: "bot.ndjson already exists." });
    const csv = await cli("export --asset-id exact --format csv --output exact.csv --json".split(" "));
    expect(JSON.parse(csv.out)).toMatchObject({ data: { path: "exact.csv", events: 1 } });
  });

  test("a transfer that breaks off leaves no file, and is reported", async () => {
    const broken = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        socket.end(
          "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nx-request-id: r\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{}\n{}\r\n",
        );
      });
    });
    const port = await listening(broken);
    const url = ["--url", `http://127.0.0.1:${port}`];
    const result = await cli(["export", "--output", "never.ndjson", ...url]);
    const piped = await cli(["export", ...url]);
    broken.close();
    expect(result.code).toBe(3);
    expect(result.err).toContain("The service broke off the transfer: the connection was closed.");
    expect(readdirSync(folder).filter((name) => /never|partial/.test(name))).toEqual([]);
    // A user who redirects output to a file has a part of it there.
    expect(piped).toMatchObject({ code: 3, err: expect.stringContaining("written so far is incomplete") });
  });

  test("a bundle is fetched and verified, and an altered one is not valid", async () => {
    await writeFile(join(folder, "log.key"), (await service.call("/v1/log/key")).text);
    const made = await cli(["evidence", "--asset-id", "exact", "--output", "evidence.zip"]);
    expect([made.code, made.err]).toEqual([0, ""]);
    const valid = await cli(["verify", "--key", "log.key", "evidence.zip", "--json"]);
    expect([valid.code, JSON.parse(valid.out).kind]).toEqual([0, "valid"]);
    const bytes = readFileSync(join(folder, "evidence.zip"));
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    await writeFile(join(folder, "altered.zip"), bytes);
    const invalid = await cli(["verify", "altered.zip"]);
    expect([invalid.code, invalid.out.split(" ")[0]]).toEqual([1, "INVALID"]);
    expect(await cli(["verify", "nothing.zip"])).toMatchObject({ code: 2, out: "" });
  });
});

test("serve runs the service with its options, and a signal ends it with exit code 0", async () => {
  await using _data = {
    [Symbol.asyncDispose]: () => rm(join(folder, "served"), { recursive: true, force: true }),
  };
  await using cli = await startCli(["serve", "--port", "0", "--data-dir", join(folder, "served")], {
    cwd: folder,
    environment: { NATS_SERVER_BIN: await testBrokerBinary(), PORT: "http", ROLES: "api", LOGLEVEL: "info" },
  });
  await until("it listens", () => /listens at +http:\/\/127\.0\.0\.1:\d+/.test(cli.err));
  // A front end alone keeps freed memory, however it is started.
  if (process.platform === "linux")
    expect(readFileSync(`/proc/${cli.child.pid}/environ`, "utf8")).toContain("MIMALLOC_PURGE_DELAY=-1");
  cli.child.kill("SIGTERM");
  const { code, out } = await cli.ended();
  expect(code).toBe(0);
  expect(out).toContain('"msg":"stopped"');
  expect(out).toContain("LOGLEVEL is not a setting: did you mean LOG_LEVEL, which is unset?");
  const refused = await runCli(["serve", "--port", "http"], { cwd: folder });
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringContaining("PORT must be a number from 0 to 65535"),
  ]);
});

test("classify prints tier, laws and duties, without a key", async () => {
  const args = [
    "classify",
    "--domain",
    "hiring",
    "--decision-autonomy",
    "full_auto",
    "--user-impact",
    "high",
  ];
  const { code, out, err } = await cli(args, { environment: { PROOFTRAIL_URL: service.url } });
  expect([code, err]).toEqual([0, ""]);
  expect(out).toStartWith("Risk tier: high\n");
  for (const text of ["eu_ai_act_art_6", "Legal bases", "Obligations", "human_oversight", "no legal advice"])
    expect(out).toContain(text);
});

test("for a process without the role api, doctor says that it takes no key, and other commands name where to ask", async () => {
  await using other = await startTestService({ ROLES: "projector" });
  const where = ["--url", other.url];
  const { out } = await cli(["doctor", "--json", ...where]);
  const { checks } = JSON.parse(out).data;
  expect(checks.filter(({ name }: { name: string }) => ["http", "key"].includes(name))).toEqual([
    { name: "http", state: "ok", detail: `${other.url} is ready` },
    {
      name: "key",
      state: "unchecked",
      detail: expect.stringContaining("does not have the role api (ROLES)"),
      advice: expect.stringContaining("--url"),
    },
  ]);
  const asked = await cli(["events", "list", "--json", ...where]);
  expect([asked.code, JSON.parse(asked.err)]).toMatchObject([
    1,
    { code: "no_api", advice: expect.stringContaining("role api") },
  ]);
});

describe("doctor asks a service over HTTP", () => {
  const keyCheck = async (url: string, text: string) => {
    const address = { url, isLoopback: true, source: "the test" };
    const key = { text, source: "the test" };
    const found = remoteChecks({ address, key, now: () => new Date() });
    return (await Array.fromAsync(found)).filter(({ name }) => name === "key");
  };

  test("what the service warns of although it is ready is a warning of doctor", async () => {
    const warnings = [{ id: "monitor_late", detail: "The monitor has not read the whole log in 50 hours." }];
    await using warning = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        Response.json({ data: { status: "ready", warnings } }, { headers: { "x-request-id": "r" } }),
    });
    const address = { url: warning.url.origin, source: "the test", isLoopback: true };
    const found = await Array.fromAsync(remoteChecks({ address, key: undefined, now: () => new Date() }));
    expect(found).toContainEqual({ name: "health", state: "warning", detail: warnings[0]?.detail ?? "" });
  });

  test("a key whose limit others use up is not reported as bad", async () => {
    await using busy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) =>
        url.endsWith("/health/ready")
          ? Response.json({})
          : Response.json({ code: "rate_limited" }, { status: 429, headers: { "retry-after": "0" } }),
    });
    expect(await keyCheck(busy.url.origin, "ptk_a_b")).toMatchObject([
      { state: "warning", detail: expect.stringContaining("its rate limit left no room") },
    ]);
  });
});

describe("the machine of the service", () => {
  const beside = async (): Promise<Record<string, string>> => ({
    ...settings(),
    DATA_DIR: service.dataDir,
    NATS_SERVER_BIN: await testBrokerBinary(),
  });

  test("doctor finds no problem, and changes nothing", async () => {
    const { code, out } = await cli(["doctor", "--json"], { environment: await beside() });
    const { data } = JSON.parse(out);
    expect(
      data.checks.filter(
        ({ name, state }: { name: string; state: string }) => state !== "ok" && name !== "disk",
      ),
    ).toEqual([]);
    expect([code, data.is_healthy]).toEqual([0, true]);
    expect(data.checks.find(({ name }: { name: string }) => name === "rights").detail).toEndWith(
      "(not tested, because consumers would receive the test: whether it may publish on audit.>, obligation.>, checkpoint.*, checkpoint_key.*)",
    );
    const another = { ...(await beside()), CHECKPOINT_KEY: "02".repeat(32) };
    expect((await cli(["doctor"], { environment: another })).out).toMatch(
      /^failed +signing keys +none of the signing keys in CHECKPOINT_KEY, .+\n +→ .*Restore the old key/m,
    );
    expect(data.checks.map(({ name }: { name: string }) => name)).toEqual([
      "settings",
      "disk",
      "broker",
      "storage",
      "rights",
      "streams",
      "views",
      "dead letters",
      "signing keys",
      "http",
      "service's clock",
      "key",
    ]);
  });

  test("doctor names each problem, and each check that it could not do", async () => {
    const wrong = await cli(["doctor"], {
      environment: { PORT: "http", PROOFTRAIL_URL: "http://127.0.0.1:1" },
      cwd: folder,
    });
    expect(wrong.code).toBe(1);
    expect(wrong.out).toMatch(/^failed +settings +PORT must be a number/);
    expect(wrong.out).toContain("nothing listens there");
    const empty = await cli(["doctor"], {
      environment: { PROOFTRAIL_URL: "http://127.0.0.1:1", DATADIR: "/srv" },
    });
    expect(empty.out).toMatch(/^warning +settings +DATADIR is not a setting: did you mean DATA_DIR/m);
    expect(empty.out).toMatch(
      /^unchecked +broker, streams, views, disk\n +there is no folder \.\/data here/m,
    );
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  test("a folder that only its owner can open is not reported as one where no service has run", async () => {
    // To root no folder is closed; a link to itself is closed to everybody.
    const closed = join(folder, "closed");
    await symlink(closed, closed);
    const environment = { DATA_DIR: closed, PROOFTRAIL_URL: "http://127.0.0.1:1" };
    const checked = await cli(["doctor"], { environment });
    expect(checked.out).toMatch(
      /^failed +folder +DATA_DIR \S+closed cannot be read: .+\n +→ Run it as the user/m,
    );
    const status = await cli(["views", "status"], { environment });
    expect(status.code).toBe(2);
    expect(status.err).toContain("cannot be read");
    // In a folder made beforehand, as by systemd, only the broker's folder is closed.
    const open = join(folder, "open");
    await mkdir(open);
    await symlink(join(open, "broker"), join(open, "broker"));
    await writeFile(join(open, "views.sqlite"), "");
    const within = { ...environment, DATA_DIR: open };
    expect((await cli(["doctor"], { environment: within })).out).toMatch(
      /^failed +folder +\S+open\/broker cannot be read: .+\n +→ Run it as the user/m,
    );
    const refused = await cli(["views", "status"], { environment: within });
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("cannot be read")]);
  });

  test("doctor names a broker that lost its port file in a power failure", async () => {
    const broker = join(folder, "cut-off", "broker");
    await mkdir(broker, { recursive: true });
    const passwords = { service: "s", provisioner: "p", consumer: "c" };
    await writeFile(join(broker, "credentials.json"), JSON.stringify(passwords));
    await writeFile(join(broker, "port"), "\0\0\0\0\0\0");
    const environment = { DATA_DIR: dirname(broker), PROOFTRAIL_URL: "http://127.0.0.1:1" };
    const { code, out } = await cli(["doctor"], { environment });
    expect(code).toBe(1);
    expect(out).toContain(`${join(broker, "port")} holds no broker port`);
    expect(out).toContain("Start the service: it runs the broker.");
  });

  test("views are listed, compared with the log and rebuilt next to the running service", async () => {
    const environment = await beside();
    const status = await cli(["views", "status", "--json"], { environment });
    const { data } = JSON.parse(status.out);
    expect(data.views.find(({ name }: { name: string }) => name === "events")).toMatchObject({
      behind: 0,
      dead_letters: 0,
    });
    const rebuilt = await cli(["views", "rebuild", "assets"], { environment });
    expect(rebuilt.out).toBe(
      `assets was rebuilt up to ${data.last_sequence}, with 0 dead letters, and swapped in.\n`,
    );
    const verified = await cli(["views", "verify", "assets", "--json"], { environment });
    expect(JSON.parse(verified.out).data.views).toMatchObject([
      // Four assets, and the questions about each.
      { view: "assets", is_equal: true, rows: 8, differences: [] },
    ]);
    const unknown = await cli(["views", "rebuild", "asset"], { environment });
    expect(unknown.code).toBe(2);
    expect(unknown.err).toContain("There is no view asset. There are: events, assets,");
    const elsewhere = { ...environment, DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
    const away = await cli(["views", "status"], { environment: elsewhere });
    expect(away).toMatchObject({
      code: 3,
      err: expect.stringContaining("DATABASE_URL: connect ECONNREFUSED"),
    });
    expect(await cli(["views", "dead-letter", "list"], { environment })).toEqual({
      code: 0,
      out: "",
      err: "There are no dead letters.\n",
    });
    expect(await cli(["views", "dead-letter", "replay", "cases"], { environment })).toMatchObject({
      code: 0,
      out: "0 taken, 0 left.\n",
    });
  });
});

const listening = (server: Server): Promise<number> => {
  const { promise, resolve } = Promise.withResolvers<number>();
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    resolve(typeof address === "object" && address ? address.port : 0);
  });
  return promise;
};

/** A connection to the service that can be cut while the service runs on. */
const startLink = async (port: string) => {
  const { connect } = await import("node:net");
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((near) => {
    const far = connect(Number(port), "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  const own = await listening(server);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: `http://127.0.0.1:${own}`,
    cut,
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
    },
  };
};
