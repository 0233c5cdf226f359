/**
 * The load generator: a process of its own, plain sockets, keep-alive, one request in flight per connection. It shares the machine with what it
 * measures, so it writes one prepared buffer per request, in which only the digits of the event_ids change. Run by ingest.ts; prints
 * one JSON line.
 */
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { DIGITS, sampleEvent } from "./sample-event.ts";

export interface LoadOrder {
  readonly port: number;
  readonly key: string;
  /** `webdis` is sent the same bytes as one value for a list (peers.ts). */
  readonly speaks: "prooftrail" | "webdis";
  readonly connections: number;
  /** 0 sends single events; otherwise so many per batch. */
  readonly batchEvents: number;
  readonly seconds: number;
  /** Distinguishes the event_ids of one run from those of another. */
  readonly run: string;
}

export interface LoadResult {
  readonly events: number;
  readonly seconds: number;
  readonly refused: number;
  /** Milliseconds per request. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** CPU time of the generator itself. */
  readonly cpuMicroseconds: number;
}

const order: LoadOrder = JSON.parse(process.argv[2] ?? "{}");
const ZEROS = "0".repeat(DIGITS);
let nextEvent = 0;

const eventText = sampleEvent(order.run);

/** One request, and where the digits of its event_ids stand. */
const prepare = (): { bytes: Buffer; ids: number[] } => {
  const events = Math.max(1, order.batchEvents);
  const list = Array.from({ length: events }, () => eventText).join(",");
  const body = order.batchEvents === 0 ? list : `{"events":[${list}]}`;
  const path = order.batchEvents === 0 ? "/v1/events" : "/v1/events/batch";
  const line = order.speaks === "webdis" ? "PUT /RPUSH/events" : `POST ${path}`;
  const head = `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${order.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
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

const ACCEPTED = order.speaks === "webdis" ? "HTTP/1.1 200" : "HTTP/1.1 202";
const latencies: number[] = [];
let refused = 0;
let events = 0;
const startedAt = performance.now();
const deadline = startedAt + order.seconds * 1000;

/** Sends one request after the other until the time is over. */
const drive = (socket: Socket): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { bytes, ids } = prepare();
  let received = "";
  let sentAt = 0;
  const send = (): void => {
    if (performance.now() >= deadline) {
      socket.end();
      resolve();
      return;
    }
    for (const at of ids) number(bytes, at, nextEvent++);
    sentAt = performance.now();
    socket.write(bytes);
  };
  socket.setEncoding("latin1");
  socket.setNoDelay(true);
  socket.on("data", (chunk) => {
    received += chunk;
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
    if (received.length < headEnd + 4 + length) return;
    latencies.push(performance.now() - sentAt);
    if (received.startsWith(ACCEPTED)) events += ids.length;
    else refused++;
    received = "";
    send();
  });
  socket.on("error", reject);
  socket.on("connect", send);
  return promise;
};

await Promise.all(
  Array.from({ length: order.connections }, () => drive(connect({ host: "127.0.0.1", port: order.port }))),
);
const used = process.cpuUsage();
const seconds = (performance.now() - startedAt) / 1000;
latencies.sort((a, b) => a - b);
const quantile = (q: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0;
const result: LoadResult = {
  events,
  seconds,
  refused,
  p50: quantile(0.5),
  p99: quantile(0.99),
  p999: quantile(0.999),
  cpuMicroseconds: (used.user + used.system) / Math.max(1, events),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
