/** One life of a case of test/sdk/corpus: captures, flushes until it is told to close, or is killed. */
import { existsSync } from "node:fs";
import process from "node:process";
import { createClient } from "prooftrail-sdk";

const { CAPTURE_URL = "", CAPTURE_FOLDER = "", CAPTURE_IDS = "", CAPTURE_CLOSE = "" } = process.env;
const client = createClient({
  url: CAPTURE_URL,
  apiKey: "k",
  outbox: { directory: CAPTURE_FOLDER },
  batch: { intervalMs: 60_000 },
  onProblem: () => {},
});
for (const event_id of CAPTURE_IDS.split(" ").filter(Boolean))
  client.capture({ event_id, asset_id: "credit_model", event_type: "ai_inference" });
while (!existsSync(CAPTURE_CLOSE)) await client.flush({ timeoutMs: 50 });
// The answer to the last request may be on its way.
await client.close({ timeoutMs: 1_000 });
process.exit();
