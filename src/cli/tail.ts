/** Follows the live stream, and resumes it where it was cut off. */
import { setTimeout as delay } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { nextAttemptMs, retryAfterMs } from "../sdk/retry.ts";
import { type Api, exitCodeOf, foreignAnswer, refusalOf } from "./api.ts";
import { integerComplaint } from "./argument-values.ts";
import type { Input, OptionSpec } from "./command.ts";
import type { Context } from "./context.ts";
import { EVENT_COLUMNS, STREAM_FILTER_OPTIONS } from "./event-filters.ts";
import { EXIT } from "./exit-codes.ts";
import { Interrupted } from "./failure.ts";
import { asRecord, parseJson } from "./json.ts";
import { CLI_RETRY_MS_MAX, CLI_STREAM_QUIET_MS_MAX } from "./limits.ts";
import { tableColumns, tellNotice } from "./output.ts";
import { queryFrom } from "./query.ts";
import { createTable } from "./table.ts";

/** Options that become parameters of the stream. */
export const TAIL_PARAMETERS: readonly OptionSpec[] = [
  {
    flag: "--after",
    value: "sequence",
    description: "begin after this one, 0 with the first; else with what comes from now on",
    complaint: integerComplaint({ min: 0 }),
  },
  ...STREAM_FILTER_OPTIONS,
];

/** Ends with Ctrl-C or when nobody reads any more. Throws a Failure if the service refuses, or was never reached. */
export const tailEvents = async (parts: {
  readonly api: Api;
  readonly input: Input;
  readonly context: Context;
}): Promise<void> => {
  const { api, input, context } = parts;
  const signal = context.interruption();
  const print = printerFor(input, context);
  const query = queryFrom(input, TAIL_PARAMETERS);
  // Sent as Last-Event-ID, which takes precedence over `after`.
  let seen: string | undefined;
  let failed = 0;
  let wasOpen = false;
  try {
    while (!signal.aborted && context.out.isHeard()) {
      const opened = await connect(api, { query, seen, signal });
      if (opened.kind === "open") {
        // Shows a person with an empty screen that it works.
        if (!wasOpen && context.err.isTerminal && !input.isSet("--quiet"))
          await context.err.write(`Following ${api.address.url}; Ctrl-C ends.\n`);
        wasOpen = true;
        failed = 0;
        await readStream(opened.response, {
          signal,
          print,
          isHeard: context.out.isHeard,
          onSeen: (id) => {
            seen = id;
          },
        });
      } else if (!wasOpen || opened.isFinal) throw opened.failure;
      if (signal.aborted || !context.out.isHeard()) return;
      failed++;
      const waitMs = nextAttemptMs({
        failures: failed,
        capMs: CLI_RETRY_MS_MAX,
        askedMs: opened.retryAfterMs,
        random: context.random,
      });
      // Reported once per interruption, however often reconnecting fails.
      if (failed === 1 && !input.isSet("--quiet"))
        await tellNotice(context, input, {
          code: "connecting_again",
          message: "the stream broke off; connecting again",
        });
      await delay(waitMs, undefined, { signal });
    }
  } catch (error) {
    // Ctrl-C is the normal end.
    if (!signal.aborted && !(error instanceof Interrupted)) throw error;
  }
};

const printerFor = (input: Input, { out }: Context): ((data: string) => Promise<void>) => {
  // A line feed in the text can only stand between two values, where it is white space (RFC 8259 §2).
  if (input.isSet("--json")) return (data) => out.write(`${data.replaceAll("\n", " ")}\n`);
  const table = createTable(EVENT_COLUMNS, tableColumns(out));
  return (data) => out.write(table.lines([asRecord(parseJson(data)) ?? {}]));
};

const STREAM_TYPE = "text/event-stream";

const connect = async (
  api: Api,
  asked: { readonly query: URLSearchParams; readonly seen: string | undefined; readonly signal: AbortSignal },
) => {
  const { query, seen, signal } = asked;
  const tried = await api.attempt({
    path: "/v1/events/stream",
    query,
    headers: { accept: STREAM_TYPE, ...(seen !== undefined && { "last-event-id": seen }) },
    signal,
  });
  if (tried.kind === "unreachable")
    return { kind: "closed", failure: tried.failure, isFinal: false, retryAfterMs: undefined } as const;
  const { response } = tried;
  if (response.ok) {
    const foreign = foreignAnswer(response, api.address, STREAM_TYPE);
    return foreign
      ? ({ kind: "closed", failure: foreign, isFinal: true, retryAfterMs: undefined } as const)
      : ({ kind: "open", response, retryAfterMs: undefined } as const);
  }
  return {
    kind: "closed",
    failure: await refusalOf(response, api.address, undefined),
    isFinal: exitCodeOf(response.status) !== EXIT.unavailable,
    retryAfterMs: retryAfterMs(response.headers.get("retry-after"), Date.now()),
  } as const;
};

/** Returns when the stream has ended, was interrupted, or was quiet for too long. */
const readStream = async (
  response: Response,
  parts: {
    readonly signal: AbortSignal;
    readonly print: (data: string) => Promise<void>;
    readonly isHeard: () => boolean;
    readonly onSeen: (id: string) => void;
  },
): Promise<void> => {
  const { signal, print, isHeard, onSeen } = parts;
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  const found: { readonly id: string | undefined; readonly data: string | undefined }[] = [];
  const parser = createParser({
    // Blocks without an event count as well: they say where the stream begins and how far it has looked.
    onId: (id) => void found.push({ id, data: undefined }),
    onEvent: ({ data }) => void found.push({ id: undefined, data }),
  });
  try {
    for (;;) {
      const chunk = await nextChunk(reader, signal);
      if (chunk === undefined) return;
      parser.feed(decoder.decode(chunk, { stream: true }));
      // The id of an event comes right before it; both are handled before anything else is awaited.
      for (const { id, data } of found.splice(0)) {
        if (data !== undefined) await print(data);
        if (id !== undefined) onSeen(id);
        if (!isHeard()) return;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
};

/** Undefined at the end, whatever its cause. */
const nextChunk = async (
  reader: { read(): Promise<{ readonly value?: Uint8Array | undefined }> },
  signal: AbortSignal,
): Promise<Uint8Array | undefined> => {
  if (signal.aborted) return undefined;
  const quiet = new AbortController();
  const tooQuiet = delay(CLI_STREAM_QUIET_MS_MAX, undefined, { signal: quiet.signal }).catch(() => undefined);
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { signal: quiet.signal, once: true });
  });
  const read = reader.read().then(
    ({ value }) => value,
    () => undefined,
  );
  try {
    return await Promise.race([read, tooQuiet, stopped]);
  } finally {
    quiet.abort();
  }
};
