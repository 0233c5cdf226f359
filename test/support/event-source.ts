/** A reader of Server-Sent Events by the HTML standard (§9.2.6), independent of the code that writes them. */
import { until } from "./until.ts";

export interface Message {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export interface EventSource {
  readonly response: Response;
  /** Everything so far. */
  readonly messages: readonly Message[];
  readonly comments: readonly string[];
  /** The id that a browser would send when it connects again. */
  readonly lastEventId: string;
  /** How the stream ended; undefined while it is open. */
  readonly end: "closed" | "broken" | undefined;
  /** Resolves with the first `count` messages as soon as they have arrived. */
  take(count: number): Promise<readonly Message[]>;
  disconnect(): Promise<void>;
}

export const openEventSource = async (
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<EventSource> => {
  const disconnecting = new AbortController();
  const response = await fetch(url, { headers, signal: disconnecting.signal });
  const state = {
    response,
    messages: [] as Message[],
    comments: [] as string[],
    lastEventId: "",
    end: undefined as EventSource["end"],
  };
  const reading = readAll(response, state).then(
    () => {
      state.end = "closed";
    },
    () => {
      state.end = "broken";
    },
  );
  return Object.assign(state, {
    take: (count: number) =>
      until(`${count} messages have come`, () => {
        if (state.messages.length >= count) return state.messages.slice(0, count);
        if (state.end) throw new Error(`the stream ${state.end} after ${state.messages.length} messages`);
        return undefined;
      }),
    disconnect: async () => {
      disconnecting.abort();
      await reading;
    },
  });
};

interface Parsed {
  messages: Message[];
  comments: string[];
  lastEventId: string;
}

const readAll = async (response: Response, parsed: Parsed): Promise<void> => {
  let rest = "";
  let fields = { event: "message", data: [] as string[], id: "" };
  const line = (text: string): void => {
    const [, name = "", value = ""] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(text) ?? [];
    if (text === "") {
      parsed.lastEventId = fields.id;
      const { event, data, id } = fields;
      if (data.length > 0) parsed.messages.push({ id, event, data: data.join("\n") });
      fields = { event: "message", data: [], id };
    } else if (name === "") parsed.comments.push(value);
    else if (name === "data") fields.data.push(value);
    else if (name === "event") fields.event = value;
    else if (name === "id") fields.id = value;
  };
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? "";
    for (const text of lines) line(text);
  }
};
