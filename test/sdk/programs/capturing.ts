/**
 * A program that captures events at a steady rate and prints each, until it is killed, or closes on SIGTERM. A line is written, without any buffer, after
 * `capture()` has returned: its reader knows of an event that the client has taken.
 */
import { writeSync } from "node:fs";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { createClient, type SyncPolicy } from "prooftrail-sdk";

const {
  CAPTURE_URL = "",
  CAPTURE_KEY = "",
  CAPTURE_FOLDER = "",
  CAPTURE_RATE = "500",
  CAPTURE_SYNC = "always",
} = process.env;

const TICK_MS = 10;
const CLOSE_TIMEOUT_MS = 120_000;
/** A request is nearly always in flight: a kill or an outage should hit one in the middle. */
const BATCH = { intervalMs: 5 };

const client = createClient({
  url: CAPTURE_URL,
  apiKey: CAPTURE_KEY,
  source: "outage",
  outbox: { directory: CAPTURE_FOLDER, sync: CAPTURE_SYNC as SyncPolicy },
  batch: BATCH,
  onProblem: () => {},
});

const say = (line: string): void => void writeSync(1, `${line}\n`);

const startedMs = performance.now();
let captured = 0;
const timer = setInterval(() => {
  const due = ((performance.now() - startedMs) / 1000) * Number(CAPTURE_RATE);
  const lines: string[] = [];
  for (; captured < due; captured++) {
    const result = client.capture({
      asset_id: "credit_model",
      event_type: "decision.automated_decision_made",
      risk_tier: "high",
      metadata: {
        decision_id: `dec_${process.pid}_${captured}`,
        outcome: "approved",
        model: "scorer-7",
        duration_ms: 41,
      },
    });
    lines.push(result.kind === "kept" ? `captured ${result.eventId}` : `dropped ${result.reason}`);
  }
  if (lines.length > 0) say(lines.join("\n"));
}, TICK_MS);

process.once("SIGTERM", async () => {
  clearInterval(timer);
  const flushed = await client.close({ timeoutMs: CLOSE_TIMEOUT_MS });
  say(`closed ${JSON.stringify({ flushed, stats: client.stats })}`);
  process.exit(0);
});
say("started");
