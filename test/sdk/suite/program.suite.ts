/** Tests that need a program of their own. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { promisify } from "node:util";
import { createClient } from "prooftrail-sdk";
import { WAIT_MS_MAX } from "../../support/time-limits.ts";
import { until } from "../../support/until.ts";
import { NOWHERE } from "./events.ts";
import { rowsIn, withFolder } from "./folder.ts";
import { commandOf } from "./program.ts";
import { problemAnswer, takeAll, withScriptedService } from "./scripted-service.ts";

const outputOf = async (name: string): Promise<string> => {
  const [command, ...parameters] = commandOf(name);
  const { stdout } = await promisify(execFile)(command, parameters, { timeout: WAIT_MS_MAX });
  return stdout;
};

test("a client does not keep a finished program alive", async () => {
  assert.equal(await outputOf("ends-by-itself"), "0\n");
});

test("an unhandled rejection of an audited call is still reported, and a handled one is not", async () => {
  assert.equal(await outputOf("unhandled-rejection"), "unhandled: nobody's\n");
});

test("the last event of a program is delivered when the program ends by itself, even without a disk", () =>
  withScriptedService(takeAll, async (service) => {
    const [command, ...parameters] = commandOf("captures-and-ends");
    const env = { ...process.env, CAPTURE_URL: service.url, CAPTURE_KEY: "ptk_1" };
    await promisify(execFile)(command, parameters, { timeout: WAIT_MS_MAX, env });
    assert.deepEqual(service.eventIds, ["evt_last"]);
  }));

test("the last event of a program is reported as dropped if nobody accepts it before the program ends", () =>
  withScriptedService(
    () => problemAnswer(503, "log_unavailable"),
    async (service) => {
      const [command, ...parameters] = commandOf("captures-and-ends");
      const env = { ...process.env, CAPTURE_URL: service.url, CAPTURE_KEY: "ptk_1" };
      const { stderr } = await promisify(execFile)(command, parameters, { timeout: WAIT_MS_MAX, env });
      assert.match(stderr, /PROOFTRAIL_DROPPED.*Event evt_last dropped \(closed\): The program has ended/);
    },
  ));

test("a dropped event is reported once, even if the program exits in the same turn of the loop", async () => {
  const [command, ...parameters] = commandOf("drops-and-exits");
  const env = { ...process.env, CAPTURE_URL: NOWHERE, CAPTURE_KEY: "ptk_1" };
  const { stderr } = await promisify(execFile)(command, parameters, { timeout: WAIT_MS_MAX, env });
  assert.equal(stderr.match(/PROOFTRAIL_DROPPED.*Event evt_when dropped \(invalid\)/g)?.length, 1, stderr);
});

test("events that a client drops at its close are reported before the close is done, even within a minute of earlier drops", () =>
  withScriptedService(
    () => "hang",
    async (service) => {
      const [command, ...parameters] = commandOf("closes-and-exits");
      const env = { ...process.env, CAPTURE_URL: service.url, CAPTURE_KEY: "ptk_1" };
      const { stderr } = await promisify(execFile)(command, parameters, { timeout: WAIT_MS_MAX, env });
      assert.match(stderr, /PROOFTRAIL_DROPPED.*Event evt_large dropped \(too_large\)/);
      assert.match(stderr, /PROOFTRAIL_DROPPED.*Event evt_last dropped \(closed\)/);
    },
  ));

test("events that a program captured before it was killed are delivered by another, and delivered events are not sent again", () =>
  withFolder((directory) =>
    withScriptedService(takeAll, async (service) => {
      const [command, ...parameters] = commandOf("capturing");
      const env = {
        ...process.env,
        CAPTURE_URL: service.url,
        CAPTURE_KEY: "ptk_1",
        CAPTURE_FOLDER: directory,
      };
      const child = spawn(command, parameters, { env, stdio: ["ignore", "pipe", "inherit"] });
      const captured = new Set<string>();
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.startsWith("captured ")) captured.add(line.slice("captured ".length));
      });
      const ended = new Promise<void>((done) => child.once("close", () => done()));
      await until("some were delivered", () => service.eventIds.length > 50);
      service.script = () => "hang";
      const answered = new Set(service.eventIds);
      const requests = service.asked.length;
      // By then it has processed every earlier answer.
      await until("it asks again", () => service.asked.length > requests);
      await until("some wait", () => captured.size > service.eventIds.length + 100);
      child.kill("SIGKILL");
      await ended;
      const sentBefore = service.eventIds.length;
      service.script = takeAll;
      const heir = createClient({
        url: service.url,
        apiKey: "ptk_1",
        outbox: { directory },
        onProblem: () => {},
      });
      await until(
        "everything is delivered",
        () => heir.stats.delivered > 0 && heir.stats.pending.events === 0,
      );
      const again = service.eventIds.slice(sentBefore);
      assert.deepEqual(
        [...captured].filter((id) => !service.eventIds.includes(id)),
        [],
      );
      assert.equal(new Set(again).size, again.length);
      assert.deepEqual(
        again.filter((id) => answered.has(id)),
        [],
      );
      await heir.close();
    }),
  ));

test("events that a thread captured before it was ended are delivered by the program that goes on", () =>
  withFolder((directory) =>
    withScriptedService(takeAll, async (service) => {
      const [command, ...parameters] = commandOf("ends-a-thread");
      const env = {
        ...process.env,
        CAPTURE_URL: service.url,
        CAPTURE_KEY: "ptk_1",
        CAPTURE_FOLDER: directory,
      };
      const child = spawn(command, parameters, { env, stdio: ["ignore", "inherit", "inherit"] });
      const ended = new Promise<void>((done) => child.once("close", () => done()));
      try {
        await until("it is delivered", () => service.eventIds.length > 0);
        assert.deepEqual(service.eventIds, ["evt_thread"]);
      } finally {
        child.kill("SIGKILL");
        await ended;
      }
    }),
  ));

test("an event that does not fit into a file that can grow no more is kept in memory, and none before it is lost", () =>
  withFolder(async (directory) => {
    const limited = `trap '' XFSZ && ulimit -f 1000 && exec "$@"`;
    const parameters = ["-c", limited, "sh", ...commandOf("fills-its-file")];
    const env = { ...process.env, CAPTURE_URL: NOWHERE, CAPTURE_KEY: "ptk_1", CAPTURE_FOLDER: directory };
    const { stdout } = await promisify(execFile)("sh", parameters, { timeout: WAIT_MS_MAX, env });
    const { event: rows } = await rowsIn(directory);
    assert.ok(rows.length > 1);
    assert.equal(rows.length, Number(stdout) - 1);
  }));

test("while a process lives, no other one takes over its file, even if that looks at it again and again", () =>
  withFolder((directory) =>
    withScriptedService(
      () => "hang",
      async (service) => {
        const [command, ...parameters] = commandOf("capturing");
        const env = { ...process.env, CAPTURE_URL: service.url, CAPTURE_KEY: "k", CAPTURE_FOLDER: directory };
        const child = spawn(command, parameters, { env, stdio: ["ignore", "pipe", "inherit"] });
        const ended = new Promise<void>((done) => child.once("close", () => done()));
        for await (const line of createInterface({ input: child.stdout }))
          if (line.startsWith("captured ")) break;
        const look = async () => {
          const other = createClient({
            url: NOWHERE,
            apiKey: "k",
            outbox: { directory },
            onProblem: () => {},
          });
          const { events } = other.stats.pending;
          await other.close({ timeoutMs: 0 });
          return events;
        };
        for (let looks = 0; looks < 5; looks++) assert.equal(await look(), 0);
        child.kill("SIGKILL");
        await ended;
        assert.ok((await look()) > 0);
      },
    ),
  ));
