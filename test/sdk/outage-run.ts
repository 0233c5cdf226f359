/**
 * A client captures while the service is away, and is itself killed meanwhile. Afterwards the log has every event that the client is known to have taken
 * exactly once.
 *
 * 1. Start a service with its own broker, and a client that captures at a steady rate and prints one line per event that `capture()` has taken.
 * 2. Kill the service (-9) under load, so that the client does not know the outcome of a request.
 * 3. During the outage kill the client (-9) as often as asked, at even intervals, and start it again at once on the same outbox.
 * 4. Start the service again on the same port; tell the last client to end. It delivers what is left, also from the killed clients.
 * 5. Read the log itself with a plain NATS client, and compare it with the lines; also compare the view and the numbers of the sources.
 */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { readLog, readView } from "../chaos/checker.ts";
import { dataFolder, type ServiceProcess, spawnService } from "../support/process.ts";
import { ADMIN_KEY } from "../support/service.ts";
import { until } from "../support/until.ts";

const PROGRAM = resolve(import.meta.dir, "programs/capturing.ts");

export interface OutageOptions {
  readonly outageMs: number;
  /** Before and after the outage. */
  readonly calmMs: number;
  readonly eventsPerSecond: number;
  readonly kills: number;
  readonly say: (line: string) => void;
}

export interface OutageReport {
  /** Events that are known to have been taken. */
  readonly captured: number;
  readonly dropped: number;
  /** Events in the log, each once or more. */
  readonly stored: number;
  /** Events that the service had already: requests whose answer was lost. */
  readonly duplicates: number;
  readonly gaps: number;
  /** From the service being ready again to the delivery of the last event. */
  readonly recoveryMs: number;
  /** One sentence each; empty if every promise was kept. */
  readonly violations: readonly string[];
}

interface CapturingClient {
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<void>;
  /** What the client said when it closed. */
  readonly closing: string | undefined;
}

export const runOutage = async (options: OutageOptions): Promise<OutageReport> => {
  const { outageMs, calmMs, eventsPerSecond, kills, say } = options;
  await using folder = await dataFolder();
  const environment = { PORT: String(await freePort()), ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: "error" };
  const start = async (): Promise<ServiceProcess> => {
    const service = await spawnService({ dataDir: join(folder.path, "service"), environment });
    await service.untilReady();
    return service;
  };
  const captured = new Set<string>();
  let dropped = 0;
  const startClient = (url: string): CapturingClient =>
    spawnClient({ url, folder: join(folder.path, "outbox"), eventsPerSecond }, (line) => {
      if (line.startsWith("captured ")) captured.add(line.slice("captured ".length));
      if (line.startsWith("dropped ")) dropped++;
    });

  const before = await start();
  const { url } = before;
  let client = startClient(url);
  await until("events are captured", () => captured.size > 0);
  await pause(calmMs);
  before.kill("SIGKILL");
  await before.ended();
  say(`service killed after ${captured.size} events`);
  for (let kill = 1; kill <= kills; kill++) {
    await pause(outageMs / (kills + 1));
    client.kill("SIGKILL");
    await client.ended;
    say(`client killed after ${captured.size} events`);
    client = startClient(url);
  }
  await pause(outageMs / (kills + 1));
  await using service = await start();
  const backAtMs = performance.now();
  say(`service back after ${captured.size} events`);
  await pause(calmMs);
  client.kill("SIGTERM");
  await client.ended;
  const recoveryMs = performance.now() - backAtMs;
  say(`client closed: ${client.closing}`);

  const consumerUrl = (await readFile(join(folder.path, "service/broker/consumer.url"), "utf8")).trim();
  const log = await readLog(consumerUrl);
  const view = await readView(service.call, log.last);
  const violations = judge({ captured, log, view, closing: client.closing });
  const gaps = await service.call("/v1/sources/gaps");
  const stats: { stats?: { duplicates?: number } } = JSON.parse(client.closing ?? "{}");
  return {
    captured: captured.size,
    dropped,
    stored: log.records.size,
    duplicates: stats.stats?.duplicates ?? 0,
    gaps: gaps.json.data.length,
    recoveryMs,
    violations,
  };
};

const judge = (parts: {
  captured: ReadonlySet<string>;
  log: Awaited<ReturnType<typeof readLog>>;
  view: Awaited<ReturnType<typeof readView>>;
  closing: string | undefined;
}): readonly string[] => {
  const { captured, log, view, closing } = parts;
  const violations: string[] = [];
  const accuse = (text: string): void => void (violations.length < 20 && violations.push(text));
  if (!closing?.includes('"kind":"flushed"')) accuse(`the client did not deliver everything: ${closing}`);
  for (const eventId of captured)
    if (!log.records.has(eventId)) accuse(`${eventId} was captured and is lost`);
  for (const [eventId, records] of log.records) {
    if (records.length > 1) accuse(`${eventId} is in the log ${records.length} times`);
    if (view.get(eventId)?.length !== 1)
      accuse(`${eventId} is in the view ${view.get(eventId)?.length} times`);
  }
  for (const hole of log.holes) accuse(`the log has no sequence ${hole}`);
  return violations;
};

const spawnClient = (
  options: { readonly url: string; readonly folder: string; readonly eventsPerSecond: number },
  onLine: (line: string) => void,
): CapturingClient => {
  const child = spawn(process.execPath, [PROGRAM], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      CAPTURE_URL: options.url,
      CAPTURE_KEY: ADMIN_KEY,
      CAPTURE_FOLDER: options.folder,
      CAPTURE_RATE: String(options.eventsPerSecond),
      CAPTURE_SYNC: "always",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let closing: string | undefined;
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    if (line.startsWith("closed ")) closing = line.slice("closed ".length);
    onLine(line);
  });
  const read = new Promise<void>((done) => lines.once("close", done));
  const exited = new Promise<void>((done) => child.once("close", () => done()));
  return {
    kill: (signal) => void child.kill(signal),
    ended: Promise.all([read, exited]).then(() => {}),
    get closing() {
      return closing;
    },
  };
};

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** The service must come back on the same port. */
const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address ? done(address.port) : fail(new Error("no port")),
      );
    });
  });
