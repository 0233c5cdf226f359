/** Follows the live stream, and resumes it where it was cut off. */
import { setTimeout as delay } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { nextAttemptMs } from "../sdk/retry.ts";
import { type Api, retryable } from "./api.ts";
import { type Input, type OptionSpec, option } from "./command.ts";
import type { Context } from "./context.ts";
import { EVENT_COLUMNS, EVENT_WIDTHS, eventRow, STREAM_FILTER_OPTIONS } from "./event-filters.ts";
import { Failure, Interrupted } from "./failure.ts";
import { asRecord, parseJson } from "./json.ts";
import { CLI_RETRY_MS_MAX, CLI_STREAM_QUIET_MS_MAX } from "./limits.ts";
import { integerComplaint, queryFrom } from "./options.ts";
import { tableColumns, tellNotice } from "./output.ts";
import { createTable } from "./table.ts";

export const TAIL_PARAMETERS: readonly OptionSpec[] = [
  option("--after", "sequence", "begin after this one, 0 for the first; else with new events", {
    complaint: integerComplaint({ min: 0 }),
  }),
  ...STREAM_FILTER_OPTIONS,
];

/** Ends with Ctrl-C or when nobody reads any more. Throws a Failure if the service refuses, or was never reached. */
export const tailEvents = async (parts: {
  readonly api: Api;
  readonly input: Input;
  readonly context: Context;
}): Promise<void> => {
  const { api, input, context } = parts;
  const { out, err, random } = context;
  const signal = context.interruption();
  const print = printerFor(input, context);
  const query = queryFrom(input, TAIL_PARAMETERS);
  // Sent as Last-Event-ID, which takes precedence over `after`.
  let seen: string | undefined;
  let failures = 0;
  let wasOpen = false;
  const isOver = (): boolean => signal.aborted || !out.isHeard();
  try {
    while (!isOver()) {
      const quiet = new AbortController();
      const headers = { accept: STREAM_TYPE, ...(seen !== undefined && { "last-event-id": seen }) };
      const opened = await api
        .open({
          path: "/v1/events/stream",
          query,
          headers,
          signal: AbortSignal.any([signal, quiet.signal]),
          mediaType: STREAM_TYPE,
        })
        .catch(retryable);
      if (opened instanceof Response) {
        // Shows a person with an empty screen that it works.
        if (!wasOpen && err.isTerminal && !input.isSet("--quiet"))
          await err.write(`Following ${api.address.url}; Ctrl-C ends.\n`);
        wasOpen = true;
        failures = 0;
        for await (const { id, data } of messagesOf(opened, quiet)) {
          if (data !== undefined) await print(data);
          seen = id ?? seen;
          if (isOver()) return;
        }
      } else if (!wasOpen) throw opened;
      if (isOver()) return;
      failures++;
      const askedMs = opened instanceof Failure ? opened.retryAfterMs : undefined;
      // Reported once per interruption, however often reconnecting fails.
      if (failures === 1 && !input.isSet("--quiet"))
        await tellNotice(context, input, {
          code: "connecting_again",
          message: "the stream broke off; reconnecting",
        });
      const waitMs = nextAttemptMs({ failures, capMs: CLI_RETRY_MS_MAX, askedMs, random });
      await delay(waitMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof Interrupted)) throw error;
  }
};

const printerFor = (input: Input, { out }: Context): ((data: string) => Promise<void>) => {
  // A line feed in the text can only stand between two values, where it is white space (RFC 8259 §2).
  if (input.isSet("--json")) return (data) => out.write(`${data.replaceAll("\n", " ")}\n`);
  const table = createTable<ReturnType<typeof eventRow>>(EVENT_COLUMNS, tableColumns(out), EVENT_WIDTHS);
  return (data) => out.write(table([eventRow(asRecord(parseJson(data)) ?? {})]));
};

const STREAM_TYPE = "text/event-stream";

/** Ids and events of the stream, until it ends, breaks or is quiet for too long. An id comes right before the next event is read. */
async function* messagesOf(response: Response, quiet: AbortController) {
  const decoder = new TextDecoder();
  const found: { readonly id?: string; readonly data?: string }[] = [];
  const parser = createParser({
    // Blocks without an event count as well: they say where the stream begins and how far it has looked.
    onId: (id) => void found.push({ id }),
    onEvent: ({ data }) => void found.push({ data }),
  });
  const timer = setTimeout(() => quiet.abort(), CLI_STREAM_QUIET_MS_MAX);
  try {
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* found.splice(0);
    }
  } catch {
    // Whatever the cause, the caller connects again.
  } finally {
    clearTimeout(timer);
  }
}
