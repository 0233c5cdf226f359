/** Imports: what happens to each event, whatever happens to the sender, the service or the connection. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtProgram } from "../support/built-program.ts";
import { callUntilSeen } from "../support/call-until-seen.ts";
import { type CliOptions, runCli, startCli } from "../support/cli.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
let folder = "";

beforeAll(async () => {
  // If this file runs alone, the program is built first: this must not count as time of the first test.
  [service] = await Promise.all([startTestService(), builtProgram()]);
  folder = await mkdtemp(join(tmpdir(), "prooftrail-send-"));
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const send = (
  args: readonly string[],
  options: CliOptions & { readonly url?: string; readonly key?: string } = {},
) => {
  const { url = service.url, key = service.adminKey, ...rest } = options;
  const environment = { PROOFTRAIL_URL: url, PROOFTRAIL_API_KEY: key };
  return runCli(["send", ...args], { cwd: folder, environment, ...rest });
};

/** An old event is answered with a warning, which these tests would print. */
const timestamp = new Date().toISOString();
const lineOf = (id: string, more: Record<string, unknown> = {}): string =>
  `${JSON.stringify(event({ event_id: id, timestamp, ...more }))}\n`;
const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(folder, name), text);
  return name;
};
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const readLines = (name: string) =>
  read(name)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("input", () => {
  test("one event is stored as written; if it is sent again, it is stored once", async () => {
    const text = JSON.stringify(event({ event_id: "evt_written", timestamp }))
      .replace('"credit_model"', '"credit_\\u006dodel"')
      .replaceAll(",", " , ");
    await file("one.json", text);
    const first = await send(["one.json"]);
    expect([first.code, first.err]).toEqual([0, ""]);
    expect(first.out).toMatch(/^1 event stored, at sequence \d+\.\n$/);
    const second = await send(["one.json"]);
    expect(second.out).toMatch(/^1 event stored, already before, at sequence \d+\.\n$/);
    const stored = await service.call(`/v1/events/evt_written?min_sequence=1`);
    expect(stored.text).toContain(text);
  });

  test("a refused line is reported with its number and reason, and does not affect the others", async () => {
    await file(
      "some.ndjson",
      `${lineOf("evt_some_1")}\n{"broken\n${lineOf("evt_some_2", { event_type: "asset.creatd" })}${lineOf("evt_some_3", { risk_teir: "high" })}`,
    );
    const told = await send(["some.ndjson"]);
    expect(told.code).toBe(1);
    expect(told.out).toMatch(/^2 events stored, 2 refused, up to sequence \d+\.\n$/);
    expect(told.err).toContain("line 3: The line is not one JSON value");
    expect(told.err).toContain(
      'line 4 (evt_some_2): The event has one problem; see errors. (invalid_event)\n  /event_type: event_type is not a known type: did you mean "asset.created"?\n',
    );
    expect(told.err).toContain(
      'line 5: /risk_teir: Kept as sent, but it has no meaning here: did you mean "risk_tier"? (shown once)\n',
    );

    const kept = await send(["some.ndjson", "--rejected", "rejected.ndjson", "--json", "--quiet"]);
    expect(JSON.parse(kept.err)).toEqual({
      line: 5,
      path: "/risk_teir",
      code: "unknown_field",
      message: 'Kept as sent, but it has no meaning here: did you mean "risk_tier"?',
    });
    expect(JSON.parse(kept.out)).toMatchObject({ data: { accepted: 2, duplicates: 2, rejected: 2 } });
    expect(readLines("rejected.ndjson")).toMatchObject([
      { line: 3, code: "invalid_json" },
      { line: 4, event_id: "evt_some_2", code: "invalid_event", event: { event_type: "asset.creatd" } },
    ]);
  });

  test("a slow pipe is sent as its lines arrive, and --fill adds missing members", async () => {
    await using cli = await startCli(["send", "--fill"], {
      cwd: folder,
      environment: { PROOFTRAIL_URL: service.url, PROOFTRAIL_API_KEY: service.adminKey },
      input: "open",
    });
    cli.child.stdin?.write('{"asset_id":"filled","event_type":"asset.created"}\n');
    const found = await until("the first event is there before the second is written", async () => {
      const { json } = await service.call("/v1/events?asset_id=filled");
      return json.data.length === 1 && json.data[0].event;
    });
    expect(found.event_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(Math.abs(Date.parse(found.timestamp) - Date.now())).toBeLessThan(60_000);
    cli.child.stdin?.end(
      '{"event_id":"evt_own","timestamp":"2026-11-20T10:00:00Z","asset_id":"filled","event_type":"asset.created"}',
    );
    const { code, out } = await cli.ended();
    expect([code, out.split(",")[0]]).toEqual([0, "2 events stored"]);
    const own = await service.call(`/v1/events/evt_own?min_sequence=${/sequence (\d+)/.exec(out)?.[1]}`);
    expect(own.json.data.event.timestamp).toBe("2026-11-20T10:00:00Z");
  });

  test("an event without an event_id is not sent unless --fill is given", async () => {
    const result = await send(["-"], { input: '{"asset_id":"bare","event_type":"asset.created"}' });
    expect(result.code).toBe(1);
    expect(result.err).toContain("/event_id");
  });

  test("a key without the right to write ends it with exit code 4, before any event is refused", async () => {
    const key = await service.makeKey("acme", ["events:read"]);
    const result = await send(["-"], { key, input: lineOf("evt_not_allowed") });
    expect([result.code, result.out]).toEqual([4, ""]);
    expect(result.err).toContain("The key lacks the scope events:write.");
  });
});

describe("an import that is interrupted", () => {
  const COUNT = 8_000;
  const ids = async (asset: string): Promise<string[]> => {
    const { text } = await service.call(`/v1/export?asset_id=${asset}`);
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).event.event_id);
  };

  test("by kill -9 continues after its last confirmed batch, and each event is stored once", async () => {
    const text = Array.from({ length: COUNT }, (_, index) =>
      lineOf(`evt_killed_${index}`, { asset_id: "killed" }),
    ).join("");
    await file("killed.ndjson", text);
    const args = ["killed.ndjson", "--resume", "killed.resume"];
    const environment = { PROOFTRAIL_URL: service.url, PROOFTRAIL_API_KEY: service.adminKey };
    const line = (): number =>
      existsSync(join(folder, "killed.resume")) ? JSON.parse(read("killed.resume")).line : 0;
    const before = await appended();
    let killed = 0;
    for (const share of [0.1, 0.5]) {
      await using cli = await startCli(["send", ...args], { cwd: folder, environment });
      await until("it has come that far", () => line() > share * COUNT || cli.child.exitCode !== null);
      if (cli.child.exitCode === null) killed++;
      cli.child.kill("SIGKILL");
      await cli.ended();
    }
    expect(killed).toBeGreaterThan(0);
    expect(line()).toBeLessThan(COUNT);
    const last = await send([...args, "--json"]);
    expect(last.code).toBe(0);
    expect(JSON.parse(last.out).data.accepted).toBe(COUNT);
    const { sequence } = JSON.parse(last.out).data;
    await callUntilSeen(service.call, `/v1/events?min_sequence=${sequence}`);
    // The log has them once, and so does the view. (An export is a record of its own.)
    expect((await appended()) - before).toBe(COUNT);
    const found = await ids("killed");
    expect([found.length, new Set(found).size]).toEqual([COUNT, COUNT]);

    // Events added to the file later are sent, and nothing else.
    await appendFile(join(folder, "killed.ndjson"), lineOf("evt_killed_late", { asset_id: "killed" }));
    const more = await send([...args, "--json"]);
    expect(JSON.parse(more.out).data).toMatchObject({ accepted: COUNT + 1 });
  });

  const appended = async (): Promise<number> => {
    const { text } = await service.call("/metrics", { key: null });
    return Number(/append_outcomes_total\{outcome="appended"\} (\d+)/.exec(text)?.[1]);
  };

  test("in its very first batch marks these events as possibly sent before when it continues", async () => {
    await using scripted = await startScripted([() => {}, takesAll, takesAll]);
    const text = Array.from({ length: 1500 }, (_, index) => lineOf(`evt_first_${index}`)).join("");
    const args = [await file("first.ndjson", text), "--resume", "first.resume"];
    const environment = { PROOFTRAIL_URL: scripted.url, PROOFTRAIL_API_KEY: "k" };
    await using cli = await startCli(["send", ...args], { cwd: folder, environment });
    await until("the first batch has arrived", () => scripted.asked.length === 1);
    cli.child.kill("SIGKILL");
    await cli.ended();
    expect((await send(args, { url: scripted.url })).code).toBe(0);
    // At most one batch was in flight: the events after it are new.
    expect(scripted.asked.map(({ url, ids }) => [url, ids.length])).toEqual([
      ["/v1/events/batch", 1000],
      ["/v1/events/batch?resent=true", 1000],
      ["/v1/events/batch", 500],
    ]);
  });

  test("by Ctrl-C ends with exit code 130 and keeps its place", async () => {
    await using cli = await startCli(["send", "-", "--resume", "stopped.resume"], {
      cwd: folder,
      environment: { PROOFTRAIL_URL: service.url, PROOFTRAIL_API_KEY: service.adminKey },
      input: "open",
    });
    cli.child.stdin?.write(lineOf("evt_stopped_1"));
    await until(
      "it has confirmed the first",
      () => existsSync(join(folder, "stopped.resume")) && JSON.parse(read("stopped.resume")).line === 1,
    );
    cli.child.kill("SIGINT");
    const { code, err } = await cli.ended();
    expect([code, err.split(",")[0]]).toEqual([130, "Stopped. So far: 1 event stored"]);
    const both = lineOf("evt_stopped_1") + lineOf("evt_stopped_2");
    const result = await send(["-", "--resume", "stopped.resume", "--json"], { input: both });
    expect(JSON.parse(result.out).data).toMatchObject({ accepted: 2, duplicates: 0 });
  });

  test("by a refusal prints JSON with its progress and the reason, each on one line", async () => {
    await using scripted = await startScripted([
      takesAll,
      ({ response }) =>
        response
          .writeHead(403, { "content-type": "application/problem+json" })
          .end('{"code":"insufficient_scope","title":"t","detail":"d","status":403}'),
    ]);
    const text = Array.from({ length: 1001 }, (_, index) => lineOf(`evt_until_${index}`)).join("");
    const args = [await file("until.ndjson", text), "--json", "--quiet"];
    const { code, out, err } = await send(args, { url: scripted.url });
    expect([code, out]).toEqual([4, ""]);
    expect(
      err
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      {
        code: "stopped",
        message: "Stopped. So far: 1,000 events stored, up to sequence 1000.",
        data: { accepted: 1000, duplicates: 0, rejected: 0, sequence: 1000 },
      },
      { code: "insufficient_scope" },
    ]);
  });

  test("does not continue with another input, nor with another service", async () => {
    await file("a.ndjson", lineOf("evt_a"));
    await send(["a.ndjson", "--resume", "a.resume"]);
    const other = await file("b.ndjson", lineOf("evt_b") + lineOf("evt_c"));
    const wrong = await send([other, "--resume", "a.resume"]);
    expect([wrong.code, wrong.out]).toEqual([2, ""]);
    expect(wrong.err).toContain("The input does not begin with what the resume point was written for.");
    const elsewhere = await send(["a.ndjson", "--resume", "a.resume"], {
      url: service.url.replace("127.0.0.1", "localhost"),
    });
    expect(elsewhere.code).toBe(2);
    expect(elsewhere.err).toContain("a.resume belongs to an import to");
    const none = await send(["a.ndjson", "--resume", "b.ndjson"]);
    expect(none.err).toContain("b.ndjson exists, and is not a resume point.");
    await file("c.resume", read("a.resume").replace(/"line":\d+/, '"line":-1'));
    const nowhere = await send(["a.ndjson", "--resume", "c.resume"]);
    expect(nowhere.err).toContain("c.resume exists, and is not a resume point.");
    expect((await service.call("/v1/events/evt_b")).status).toBe(404);
  });
});

describe("a service that is temporarily unable to accept events", () => {
  test("is asked again, only for the events it did not accept, with the mark that they may have been sent before", async () => {
    await using scripted = await startScripted([
      ({ response }) =>
        response
          .writeHead(503, { "content-type": "application/problem+json", "retry-after": "0" })
          .end('{"code":"overloaded","title":"t","detail":"Too much.","status":503}'),
      // The answer is lost: nobody knows whether the event was stored.
      ({ response }) => response.destroy(),
      ({ response }) =>
        response.writeHead(202, ANSWERED).end(
          JSON.stringify({
            data: {
              accepted: 1,
              rejected: 2,
              duplicates: 0,
              sequence: 7,
              errors: [
                {
                  index: 0,
                  event_id: "evt_x",
                  code: "log_unavailable",
                  message: "m",
                  errors: [],
                  retryable: true,
                },
                { index: 2, event_id: "evt_z", code: "event_id_conflict", message: "taken", errors: [] },
              ],
            },
          }),
        ),
      ({ response }) =>
        response
          .writeHead(202, ANSWERED)
          .end(
            JSON.stringify({ data: { accepted: 1, rejected: 0, duplicates: 1, sequence: 8, errors: [] } }),
          ),
    ]);
    const input = lineOf("evt_x") + lineOf("evt_y") + lineOf("evt_z");
    const result = await send(["-", "--json"], { url: scripted.url, input });
    expect(result.code).toBe(1);
    expect(JSON.parse(result.out).data).toEqual({ accepted: 2, duplicates: 1, rejected: 1, sequence: 8 });
    expect(result.err).toContain('{"line":3,"event_id":"evt_z","code":"event_id_conflict"');
    expect(scripted.asked.map(({ url, ids }) => [url, ids])).toEqual([
      ["/v1/events/batch", ["evt_x", "evt_y", "evt_z"]],
      ["/v1/events/batch?resent=true", ["evt_x", "evt_y", "evt_z"]],
      ["/v1/events/batch?resent=true", ["evt_x", "evt_y", "evt_z"]],
      ["/v1/events/batch?resent=true", ["evt_x"]],
    ]);
  });

  test("is given up after --retry-for, and the exit code says that a retry may help; with --json each line is JSON", async () => {
    const { code, out, err } = await send(["-", "--retry-for", "1s", "--json"], {
      url: "http://127.0.0.1:1",
      input: lineOf("evt_never"),
    });
    expect([code, out]).toEqual([3, ""]);
    const told = err
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(told.at(0)).toMatchObject({
      code: "retrying",
      message: expect.stringContaining("nothing listens there. Trying again."),
    });
    expect(told.at(-1)).toMatchObject({
      code: "gave_up",
      detail: expect.stringContaining("The last answer: No answer from http://127.0.0.1:1"),
    });
  });
});

type Answer = (call: { readonly response: ServerResponse; readonly count: number }) => unknown;

const ANSWERED = { "content-type": "application/json", "x-request-id": "r" };

const takesAll: Answer = ({ response, count }) =>
  response
    .writeHead(202, ANSWERED)
    .end(
      JSON.stringify({ data: { accepted: count, rejected: 0, duplicates: 0, sequence: count, errors: [] } }),
    );

/** A service that gives the scripted answers, one after the other. */
const startScripted = async (answers: readonly Answer[]) => {
  const asked: { url: string; ids: string[] }[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { events }: { events: { event_id: string }[] } = JSON.parse(body);
    const answer = answers[asked.length];
    asked.push({ url: request.url ?? "", ids: events.map(({ event_id }) => event_id) });
    answer?.({ response, count: events.length });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", () => done()));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
