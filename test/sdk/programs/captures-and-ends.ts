/** Captures one event in memory, and then has nothing more to do. */
import process from "node:process";
import { createClient } from "prooftrail-sdk";

const { CAPTURE_URL = "", CAPTURE_KEY = "" } = process.env;
createClient({
  url: CAPTURE_URL,
  apiKey: CAPTURE_KEY,
  outbox: { memory: true },
  batch: { intervalMs: 60_000 },
}).capture({ event_id: "evt_last", asset_id: "credit_model", event_type: "ai_inference" });
