/** When an import retries and when it gives up. The test provides time and answers. */
import { expect, test } from "bun:test";
import { sendBatch } from "./batch-sender.ts";

const EVERY_MS = 600;
const RETRY_FOR_MS = 1000;
const EVENTS = Array.from({ length: 6 }, (_, line) => ({ line, text: "{}" }));

/** What each try asks with, and what becomes of the batch, if the service answers each try so after equally long. */
const sending = (answerTo: (events: number, tries: number) => object) => {
  let now = 0;
  const asked: (readonly [events: number, isResent: boolean])[] = [];
  const ask = async ({ body = "", query }: { body?: string; query?: URLSearchParams }) => {
    now += EVERY_MS;
    const events = JSON.parse(body).events.length;
    const data = answerTo(events, asked.length);
    asked.push([events, query?.get("resent") === "true"]);
    return { text: "", value: { data: { duplicates: 0, ...data } } };
  };
  const parts = {
    api: { ask },
    retryForMs: RETRY_FOR_MS,
    signal: new AbortController().signal,
    random: () => 0,
    elapsedMs: () => now,
    onRetry: () => {},
  };
  return { asked, sent: sendBatch(parts, EVENTS, false) };
};

/** The first events are taken, the others are to be sent again. */
const taking = (accepted: number, events: number) => {
  const index = (_: unknown, at: number) => ({
    index: accepted + at,
    code: "c",
    message: "m",
    retryable: true,
  });
  const errors = Array.from({ length: events - accepted }, index);
  return { accepted, rejected: errors.length, errors };
};

test("an accepted event is progress: the retry time starts again, and only the rest is sent, marked as possibly stored", async () => {
  const { asked, sent } = sending((events) => taking(1, events));
  expect(await sent).toMatchObject({ accepted: 6, rejected: [] });
  expect(asked).toEqual([6, 5, 4, 3, 2, 1].map((events, index) => [events, index > 0] as const));
});

test("an import without progress is given up when the retry time is over", async () => {
  const { asked, sent } = sending((events, tries) => taking(tries === 0 ? 1 : 0, events));
  await expect(sent).rejects.toMatchObject({ document: { code: "gave_up" } });
  expect(asked.length).toBe(3);
});

test("an answer that does not account for each event is rejected: a missing one would pass for stored", async () => {
  for (const data of [{}, { accepted: 5, rejected: 0, errors: [] }])
    await expect(sending(() => data).sent).rejects.toMatchObject({ document: { code: "unexpected_answer" } });
});
