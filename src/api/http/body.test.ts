import { expect, test } from "bun:test";
import { createRestDiscarder } from "./body.ts";

const PIECE = new Uint8Array(100);

/** A request whose body never ends: it gives `pieces`, or pieces forever, and then nothing more comes. */
const endless = (headers: Record<string, string>, pieces = Number.POSITIVE_INFINITY) => {
  const seen = { pieces: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (seen.pieces === pieces) return new Promise<void>(() => {});
        seen.pieces++;
        controller.enqueue(PIECE);
        return undefined;
      },
      cancel: () => {
        seen.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, request: new Request("http://localhost/", { method: "POST", body, headers }) };
};

const CLOSE = { connection: "close" };
const BOUNDS = { bytesMax: 1000, msMax: 60_000, atOnceMax: 2 };

test("a body that does not end is given up after the bytes that may be read for nothing", async () => {
  for (const connection of ["close", "Close", "TE, close", "close ,te"]) {
    const { seen, request } = endless({ connection });
    await createRestDiscarder(BOUNDS)(request);
    expect(seen).toEqual({ pieces: 11, isCancelled: true });
  }
});

test("a body that stops halfway is given up in time", async () => {
  const { seen, request } = endless(CLOSE, 3);
  await createRestDiscarder({ ...BOUNDS, msMax: 20 })(request);
  expect(seen).toEqual({ pieces: 3, isCancelled: true });
});

test("nothing is read where the connection stays open, where all of it would be too much, or where another reader has it", async () => {
  const read = endless(CLOSE);
  read.request.body?.getReader();
  const kept = ["keep-alive", "closed", "not-close"].map((connection) => endless({ connection }));
  const given = [...kept, endless({ ...CLOSE, "content-length": "1001" }), read];
  for (const { request } of given) await createRestDiscarder(BOUNDS)(request);
  expect(given.map(({ seen }) => seen.pieces)).toEqual([0, 0, 0, 0, 0]);
});

test("so many bodies are read at once, and one more when one of them has ended", async () => {
  const discardRest = createRestDiscarder(BOUNDS);
  const stalled = endless(CLOSE, 0);
  const ended = discardRest(endless(CLOSE).request);
  void discardRest(stalled.request);
  const tooMany = endless(CLOSE);
  await discardRest(tooMany.request);
  expect(tooMany.seen.pieces).toBe(0);
  await ended;
  await discardRest(tooMany.request);
  expect(tooMany.seen.pieces).toBe(11);
});

test("a body that breaks off is no fault", async () => {
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error("cut off")) });
  await createRestDiscarder(BOUNDS)(
    new Request("http://localhost/", { method: "POST", body, headers: CLOSE }),
  );
});
