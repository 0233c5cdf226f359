import { expect, test } from "bun:test";
import type { Api } from "./api.ts";
import type { Input } from "./command.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { tailEvents } from "./tail.ts";

const stream = (id: number): Response =>
  new Response(`id: ${id}\nevent: audit\ndata: {"n":${id}}\n\n`, {
    headers: { "content-type": "text/event-stream", "x-request-id": "r" },
  });
const problem = (status: number, code: string): Response =>
  Response.json({ title: code, code, status, detail: code }, { status });

/** What is asked for and printed if the service gives these answers, one by one, and then says that the key has ended. */
const following = (...answers: readonly Response[]) => {
  const [seen, printed]: [unknown[], string[]] = [[], []];
  const left = [...answers, problem(401, "invalid_api_key")];
  const api = {
    address: { url: "http://127.0.0.1:8080" },
    attempt: async ({ headers }: { headers: Readonly<Record<string, string>> }) => {
      seen.push(headers["last-event-id"]);
      const response = left.shift();
      if (response === undefined) throw new Error("it was told that the key has ended");
      return response;
    },
  };
  const writer = {
    isTerminal: false,
    isHeard: () => true,
    write: async (text: string) => void printed.push(text),
  };
  const signal = new AbortController().signal;
  const context = { out: writer, err: writer, random: () => 0, interruption: () => signal };
  const input = { text: () => undefined, isSet: (name: string) => name !== "--after" };
  const ended = tailEvents({
    api: api as unknown as Api,
    input: input as unknown as Input,
    context: context as unknown as Context,
  });
  return { ended, seen, printed };
};

test("tail continues after the last printed event, even if the service is away for a while, and ends when the key ends", async () => {
  const { ended, seen, printed } = following(stream(7), problem(503, "not_ready"), stream(9));
  await expect(ended).rejects.toMatchObject({ exitCode: EXIT.forbidden });
  expect(printed).toEqual(['{"n":7}\n', '{"n":9}\n']);
  expect(seen).toEqual([undefined, "7", "7", "9"]);
});

test("tail reports it if it is refused at once or never reaches the service", async () => {
  await expect(following(problem(403, "insufficient_scope")).ended).rejects.toMatchObject({
    exitCode: EXIT.forbidden,
  });
  await expect(following(problem(503, "not_ready")).ended).rejects.toMatchObject({
    exitCode: EXIT.unavailable,
  });
});
