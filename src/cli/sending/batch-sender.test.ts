/** When an import retries and when it gives up. The test provides time and answers. */
import { expect, test } from "bun:test";
import type { Api } from "../api.ts";
import { sendBatch } from "./batch-sender.ts";

const EVERY_MS = 600;
const RETRY_FOR_MS = 1000;

const EVENTS = Array.from({ length: 6 }, (_, index) => JSON.stringify({ index }));

/** Each try takes this many events and reports the others as retryable. Each try takes equally long. */
const sending = (taken: readonly number[]) => {
  let now = 0;
  const asked: { readonly events: number; readonly isResent: boolean }[] = [];
  const api = {
    attempt: async ({ body = "", query }: { body?: string; query?: URLSearchParams }) => {
      now += EVERY_MS;
      const events = JSON.parse(body).events.length;
      const accepted = Math.min(events, taken[asked.length] ?? events);
      asked.push({ events, isResent: query?.get("resent") === "true" });
      const errors = Array.from({ length: events - accepted }, (_, index) => ({
        index: accepted + index,
        code: "log_unavailable",
        message: "away",
        retryable: true,
      }));
      const data = { accepted, rejected: errors.length, duplicates: 0, errors };
      return answerWith(data);
    },
  };
  return { asked, sent: senderTo(api, () => now) };
};

const answerWith = (data: object) =>
  Response.json({ data }, { status: 202, headers: { "x-request-id": "1" } });

const senderTo =
  (api: Pick<Api, "attempt">, elapsedMs = () => 0) =>
  () =>
    sendBatch(
      {
        api: { address: { url: "http://127.0.0.1", source: "--url", isLoopback: true }, ...api },
        retryForMs: RETRY_FOR_MS,
        signal: new AbortController().signal,
        random: () => 0,
        elapsedMs,
        onRetry: () => {},
      },
      EVENTS,
      false,
    );

test("an accepted event is progress: the retry time starts again, and only the rest is sent, marked as possibly stored", async () => {
  const { asked, sent } = sending([1, 1, 1, 1, 1]);
  expect(await sent()).toMatchObject({ accepted: 6, rejected: [] });
  expect(asked).toEqual([6, 5, 4, 3, 2, 1].map((events, index) => ({ events, isResent: index > 0 })));
});

test("an import without progress is given up when the retry time is over", async () => {
  const { asked, sent } = sending([1, 0, 0, 0, 0, 0, 0]);
  await expect(sent()).rejects.toMatchObject({ document: { code: "gave_up" } });
  expect(asked.length).toBe(3);
});

test("an answer that does not account for each event is rejected, because a missing event would pass for stored", async () => {
  const error = (index: unknown) => ({ index, code: "invalid_event", message: "m" });
  for (const data of [
    { accepted: 0, rejected: 0, errors: [] },
    { accepted: 5, rejected: 0, errors: [] },
    { accepted: 7, rejected: 0, errors: [] },
    { accepted: 5, rejected: 1, errors: [] },
    { accepted: 5, rejected: 0, errors: [error(0)] },
    { accepted: 5, rejected: 1, errors: [error(6)] },
    { accepted: 5, rejected: 1, errors: [error(0.5)] },
    { accepted: 4, rejected: 2, errors: [error(0), error(0)] },
    { accepted: 5, rejected: 1, errors: [error(0), error(0)] },
    { accepted: "6", rejected: 0, errors: [] },
    {},
  ]) {
    const send = senderTo({ attempt: async () => answerWith({ duplicates: 0, ...data }) });
    const outcome = await send().catch((failure: unknown) => failure);
    expect([data, outcome]).toMatchObject([data, { document: { code: "unexpected_answer" } }]);
  }
});
