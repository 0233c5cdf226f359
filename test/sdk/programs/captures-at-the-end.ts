/** Captures events when it ends, after the client was told of that, and prints what happens to them. */
import process from "node:process";
import { createClient } from "prooftrail-sdk";

const { CAPTURE_URL = "", CAPTURE_KEY = "" } = process.env;
const client = createClient({ url: CAPTURE_URL, apiKey: CAPTURE_KEY, outbox: { memory: true } });
const capture = (event_id: string) =>
  client.capture({ event_id, asset_id: "credit_model", event_type: "ai_inference" });
capture("evt_before");
process.on("exit", () => {
  const captured = [capture("evt_1"), capture("evt_2")].map(({ kind }) => kind);
  process.stdout.write(JSON.stringify([captured, client.stats.dropped, client.stats.pending.events]));
});
process.exit();
