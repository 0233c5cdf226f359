/** The cases of test/sdk/corpus, which every SDK of ours passes: given these captures, answers and deaths, these requests are sent and these rows are left. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { until } from "../../support/until.ts";
import outbox from "../corpus/outbox.json" with { type: "json" };
import refused from "../corpus/refused.json" with { type: "json" };
import { rowsIn, withFolder } from "./folder.ts";
import { commandOf } from "./program.ts";
import { batchAnswer, problemAnswer, type Reply, takeAll, withScriptedService } from "./scripted-service.ts";

interface Answer {
  readonly status?: number;
  readonly foreign?: boolean;
  readonly errors?: readonly {
    readonly index: number;
    readonly code: string;
    readonly retryable?: boolean;
  }[];
}

interface Life {
  readonly capture: readonly string[];
  readonly answers: readonly (Answer | string)[];
  readonly requests: readonly (readonly string[])[];
  readonly end: string;
  readonly rows: { readonly event: readonly unknown[]; readonly dead_letter: readonly unknown[] };
}

const replyTo = (answer: Answer | string | undefined, sent: number): Reply => {
  if (answer === "accept") return batchAnswer(sent);
  if (typeof answer !== "object") return "hang";
  const { status = 202, foreign = false, errors } = answer;
  if (errors)
    return batchAnswer(
      sent,
      errors.map(({ index, code, retryable }) => ({ index, code, ...(retryable === true && { retryable }) })),
    );
  if (status === 202 || foreign) return { status, body: '{"data":{}}' };
  return problemAnswer(status, `status_${status}`);
};

const live = async ({ capture, answers, requests, end }: Life, folder: string): Promise<void> => {
  await withScriptedService(takeAll, async (service) => {
    service.script = ({ events }) => replyTo(answers[service.asked.length - 1], events.length);
    const [command, ...parameters] = commandOf("lives-a-case");
    const env = {
      ...process.env,
      CAPTURE_URL: service.url,
      CAPTURE_FOLDER: join(folder, "outbox"),
      CAPTURE_IDS: capture.join(" "),
      CAPTURE_CLOSE: join(folder, `close-${new URL(service.url).port}`),
    };
    const child = spawn(command, parameters, { env, stdio: ["ignore", "inherit", "inherit"] });
    const ended = new Promise<void>((done) => child.once("close", () => done()));
    try {
      await until("it has sent them", () => service.asked.length >= requests.length);
      if (end === "close") {
        await writeFile(env.CAPTURE_CLOSE, "");
        await ended;
      }
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
    const ids = service.asked.map(({ events }) => events.map(({ event_id }) => event_id));
    assert.deepEqual(ids.slice(0, requests.length), requests);
  });
};

for (const { name, lives } of [...outbox, ...refused])
  test(`corpus: ${name}`, () =>
    withFolder(async (folder) => {
      for (const life of lives) {
        await live(life, folder);
        assert.deepEqual(await rowsIn(join(folder, "outbox")), life.rows);
      }
    }));
