/** Bun closes a connection that is quiet for too long. The limit is for the client's silence, not for ours. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { pagedBody } from "../../src/api/http/paged-body.ts";
import { listen } from "../../src/runtime/listen.ts";
import { until } from "../support/until.ts";

/** Bun counts in steps of four seconds. */
const IDLE_MS_MAX = 4000;

/** Searches all the time, and finds nothing before twice the limit is over. */
const startSearching = () =>
  listen({
    host: "127.0.0.1",
    port: 0,
    bodyBytesMax: 1000,
    idleMsMax: IDLE_MS_MAX,
    handle: async (request, connections) => {
      const foundAt = performance.now() + 2 * IDLE_MS_MAX;
      let hasFound = false;
      const next = async (): Promise<string | undefined> => {
        if (hasFound) return undefined;
        await delay(50);
        hasFound = performance.now() > foundAt;
        return hasFound ? "found" : "";
      };
      const keepOpen = (isKept: boolean): void => connections.keepOpen(request, isKept);
      return new Response(pagedBody({ next, closed: () => {}, failed: () => {}, keepOpen }));
    },
  });

test("an answer that takes longer than a connection may be quiet still arrives, and afterwards the limit applies again", async () => {
  const listener = startSearching();
  const socket = connect(listener.port, "127.0.0.1");
  let text = "";
  let hasEnded = false;
  socket.setEncoding("latin1").on("data", (some) => {
    text += some;
  });
  socket.on("close", () => {
    hasEnded = true;
  });
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await until("the answer is whole, or the connection closed", () => hasEnded || text.endsWith("0\r\n\r\n"));
  expect(text).toContain("found");
  await until("the quiet connection is closed", () => hasEnded);
  await listener.stop(0);
});
