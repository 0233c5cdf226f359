/** Drops an event that is too large, and closes with another one that nobody has accepted. Then it exits at once, as a program does that is told to end. */
import process from "node:process";
import { createClient } from "prooftrail-sdk";

const { CAPTURE_URL = "", CAPTURE_KEY = "" } = process.env;
const client = createClient({
  url: CAPTURE_URL,
  apiKey: CAPTURE_KEY,
  outbox: { memory: true },
  batch: { intervalMs: 60_000 },
});
const capture = (event_id: string, characters: number) =>
  client.capture({
    event_id,
    asset_id: "credit_model",
    event_type: "ai_inference",
    metadata: { text: "x".repeat(characters) },
  });
capture("evt_large", 300_000);
capture("evt_last", 1);
await client.close({ timeoutMs: 1 });
process.exit();
