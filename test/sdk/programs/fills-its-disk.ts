/** Captures until its disk is full and five events are in memory only, says so, and closes when everything in its folder is delivered. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createClient } from "prooftrail-sdk";
import { fill } from "../../support/full-disk.ts";

const { CAPTURE_URL = "", CAPTURE_FOLDER = "" } = process.env;
const open = (name: string, onProblem: (kind: string) => void, lost: unknown[] = []) =>
  createClient({
    url: CAPTURE_URL,
    apiKey: "k",
    outbox: { directory: join(CAPTURE_FOLDER, name), bytesMax: 2 ** 30 },
    batch: { intervalMs: 5 },
    onDropped: ({ eventId }) => lost.push(eventId),
    onProblem: ({ kind }) => onProblem(kind),
  });

let isFull = false;
const lost: unknown[] = [];
const client = open("outbox", (kind) => (isFull ||= kind === "outbox"), lost);
let captured = 0;
const capture = () =>
  client.capture({
    event_id: `evt_${captured++}`,
    asset_id: "credit_model",
    event_type: "ai_inference",
    metadata: { text: "x".repeat(64 * 1024) },
  });
for (let first = 0; first < 8; first++) capture();
await fill(join(CAPTURE_FOLDER, "ballast"));
while (!isFull) capture();
for (let held = 0; held < 4; held++) capture();
const inFolder = captured - 5;

// On the full disk another client cannot start.
const other = join(CAPTURE_FOLDER, "other");
mkdirSync(other);
let refused = "";
try {
  open("other", () => {});
} catch (error) {
  refused = String(error);
}
process.stdout.write(
  `${JSON.stringify({ inFolder, refused, left: readdirSync(other), synced: await client.synced() })}\n`,
);
while (client.stats.delivered < inFolder) await client.flush({ timeoutMs: 20 });
const flushed = await client.close({ timeoutMs: 1 });
process.stdout.write(`${JSON.stringify({ flushed, lost, dropped: client.stats.dropped })}\n`, () =>
  process.exit(),
);
