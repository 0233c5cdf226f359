/**
 * The load generator: a process of its own, plain sockets, keep-alive, one request in flight per connection. It does as little as it can, because
 * it shares the machine with what it measures. Run by ingest.ts; prints one JSON line.
 */
import { connect, type Socket } from "node:net";

export interface LoadOrder {
  readonly port: number;
  readonly key: string;
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
}

const order: LoadOrder = JSON.parse(process.argv[2] ?? "{}");
const PADDING = "x".repeat(170);
let next = 0;

const eventText = (): string =>
  `{"event_id":"evt_${order.run}_${next++}","timestamp":"2026-11-20T10:00:00.123Z","asset_id":"credit_model","event_type":"decision.automated_decision_made","risk_tier":"high","legal_bases":["ai_basic_law_kr"],"correlation_id":"case-${next % 1000}","tags":{"team":"credit","canary":false},"metadata":{"model":"scorer-7","duration_ms":41,"decision_id":"dec_${next}","note":"${PADDING}"}}`;

const requestText = (): string => {
  const events = order.batchEvents;
  const body =
    events === 0 ? eventText() : `{"events":[${Array.from({ length: events }, eventText).join(",")}]}`;
  const path = events === 0 ? "/v1/events" : "/v1/events/batch";
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${order.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

const latencies: number[] = [];
let refused = 0;
let events = 0;
const perRequest = Math.max(1, order.batchEvents);
const startedAt = performance.now();
const deadline = startedAt + order.seconds * 1000;

/** Sends one request after the other until the time is over. */
const drive = (socket: Socket): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let received = "";
  let sentAt = 0;
  const send = (): void => {
    if (performance.now() >= deadline) {
      socket.end();
      resolve();
      return;
    }
    sentAt = performance.now();
    socket.write(requestText());
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
    if (received.startsWith("HTTP/1.1 202")) events += perRequest;
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
};
process.stdout.write(`${JSON.stringify(result)}\n`);
