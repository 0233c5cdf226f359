/** Drops an event, and exits in the same turn of the loop. */
import process from "node:process";
import { createClient } from "prooftrail-sdk";

const { CAPTURE_URL = "", CAPTURE_KEY = "" } = process.env;
createClient({ url: CAPTURE_URL, apiKey: CAPTURE_KEY, outbox: { memory: true } }).capture({
  event_id: "evt_when",
  asset_id: "credit_model",
  event_type: "ai_inference",
  timestamp: new Date(Number.NaN),
});
process.exit();
