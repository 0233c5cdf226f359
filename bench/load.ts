/**
 * The load generator: a separate process with plain sockets, keep-alive, and one request in flight per connection. It shares the machine with what it
 * measures, so it writes one prepared buffer per request, in which only the digits of the event_ids change. It carries out one order after another,
 * each a line of JSON that it answers with a line, because a program that has just started takes twice the CPU time for each request (measured).
 * Started by programs.ts.
 */
import { Buffer } from "node:buffer";
import { createInterface } from "node:readline";
import type { Socket } from "bun";
import { DIGITS, sampleEvent } from "./sample-event.ts";

export interface LoadOrder {
  readonly port: number;
  readonly key: string;
  readonly connections: number;
  /** 0 sends single events; otherwise the number of events per batch. */
  readonly batchEvents: number;
  readonly seconds: number;
  /** Distinguishes the event_ids of one run from those of another. */
  readonly run: string;
}

export interface LoadResult {
  readonly events: number;
  readonly seconds: number;
}

const ZEROS = "0".repeat(DIGITS);

/** One request, and the positions of the digits of its event_ids. */
const prepare = (order: LoadOrder): { bytes: Buffer; ids: number[] } => {
  const eventText = sampleEvent(order.run);
  const events = Math.max(1, order.batchEvents);
  const list = Array.from({ length: events }, () => eventText).join(",");
  const body = order.batchEvents === 0 ? list : `{"events":[${list}]}`;
  const path = order.batchEvents === 0 ? "/v1/events" : "/v1/events/batch";
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${order.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const text = head + body;
  const ids: number[] = [];
  for (let at = text.indexOf(ZEROS, head.length); at >= 0; at = text.indexOf(ZEROS, at + DIGITS))
    ids.push(at);
  return { bytes: Buffer.from(text, "latin1"), ids };
};

const number = (bytes: Buffer, at: number, value: number): void => {
  let rest = value;
  for (let index = at + DIGITS - 1; index >= at; index--) {
    bytes[index] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
};

/** The counters of all connections of one order. */
interface Tally {
  readonly deadline: number;
  readonly accepted: Buffer;
  nextEvent: number;
  events: number;
}

/** The state of one connection. */
interface Connection {
  readonly tally: Tally;
  readonly bytes: Buffer;
  readonly ids: readonly number[];
  /** How much of `bytes` was already written. */
  written: number;
  /** The received part of an incomplete answer. */
  received: Buffer | undefined;
  readonly finish: () => void;
}
type Wire = Socket<Connection>;

const write = (socket: Wire): void => {
  const { data } = socket;
  data.written += socket.write(data.bytes, data.written, data.bytes.length - data.written);
};

/** Sends one request after another until the time is over. */
const send = (socket: Wire): void => {
  const { data } = socket;
  const { tally } = data;
  if (performance.now() >= tally.deadline) {
    socket.end();
    data.finish();
    return;
  }
  for (const at of data.ids) number(data.bytes, at, tally.nextEvent++);
  data.written = 0;
  write(socket);
};

const HEAD_END = Buffer.from("\r\n\r\n");
const LENGTH = /content-length: (\d+)/i;

/** The service sends heads that hardly vary, so the length is searched for in a short text. */
const isComplete = (answer: Buffer): boolean => {
  const headEnd = answer.indexOf(HEAD_END);
  if (headEnd < 0) return false;
  const length = Number(LENGTH.exec(answer.toString("latin1", 0, headEnd))?.[1]);
  return answer.length >= headEnd + HEAD_END.length + length;
};

const take = (socket: Wire, chunk: Buffer): void => {
  const { data } = socket;
  const { accepted } = data.tally;
  const answer = data.received ? Buffer.concat([data.received, chunk]) : chunk;
  if (!isComplete(answer)) {
    // The chunk's memory is reused after this call.
    data.received = Buffer.from(answer);
    return;
  }
  data.received = undefined;
  if (answer.compare(accepted, 0, accepted.length, 0, accepted.length) !== 0)
    throw new Error(answer.toString("latin1"));
  data.tally.events += data.ids.length;
  send(socket);
};

const drive = async (order: LoadOrder, tally: Tally): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  await Bun.connect<Connection>({
    hostname: "127.0.0.1",
    port: order.port,
    data: { tally, ...prepare(order), written: 0, received: undefined, finish: resolve },
    socket: {
      open: send,
      data: take,
      drain: write,
      error: (_socket, error) => reject(error),
      close: (socket) => socket.data.finish(),
    },
  });
  await promise;
};

const carryOut = async (order: LoadOrder): Promise<LoadResult> => {
  const startedAt = performance.now();
  const tally: Tally = {
    deadline: startedAt + order.seconds * 1000,
    accepted: Buffer.from("HTTP/1.1 202"),
    nextEvent: 0,
    events: 0,
  };
  await Promise.all(Array.from({ length: order.connections }, () => drive(order, tally)));
  return { events: tally.events, seconds: (performance.now() - startedAt) / 1000 };
};

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await carryOut(JSON.parse(line)))}\n`);
