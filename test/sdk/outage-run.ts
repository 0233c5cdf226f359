/**
 * A client goes on capturing while the service is away, and is itself killed meanwhile. Afterwards every event that it is known to have taken is in the log
 * exactly once.
 *
 * 1. A service with a broker of its own, and a client that captures at a steady rate, each line of its output one event that `capture()` has taken.
 * 2. The service is killed (-9) under load, so that the fate of a request is unknown to the client.
 * 3. During the outage the client is killed (-9) as often as asked, at even distances, and started again at once on the same outbox.
 * 4. The service comes back on the same port; the last client is told to end, and delivers what is left, that of the dead ones included.
 * 5. The log itself is read, with a plain NATS client, and held against the lines; so are the view and the numbers of the sources.
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
  /** Before and after it. */
  readonly calmMs: number;
  readonly eventsPerSecond: number;
  readonly kills: number;
  readonly say: (line: string) => void;
}

export interface OutageReport {
  /** Known to have been taken. */
  readonly captured: number;
  readonly dropped: number;
  /** In the log, each once or more. */
  readonly stored: number;
  /** Found by the service to be there already: requests whose answer was lost. */
  readonly duplicates: number;
  readonly gaps: number;
  /** From the service being ready again to the last event being delivered. */
  readonly recoveryMs: number;
  /** Each a sentence; empty where every promise was kept. */
  readonly violations: readonly string[];
}

interface CapturingClient {
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<void>;
  /** What it said when it closed. */
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

/** The service must come back where it was. */
const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address ? done(address.port) : fail(new Error("no port")),
      );
    });
  });
