/** One of its threads captures an event and is then ended from outside, without notice. A client of the main program goes on. */
import process from "node:process";
import { setInterval } from "node:timers";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { createClient } from "prooftrail-sdk";

const { CAPTURE_URL = "", CAPTURE_KEY = "", CAPTURE_FOLDER = "" } = process.env;
const open = () =>
  createClient({
    url: CAPTURE_URL,
    apiKey: CAPTURE_KEY,
    outbox: { directory: CAPTURE_FOLDER },
    batch: { intervalMs: 60_000 },
  });

if (isMainThread) {
  const thread = new Worker(new URL(import.meta.url));
  thread.once("message", async () => {
    await thread.terminate();
    // The kernel may still be ending it (Deno), and a client checks at its start and then every 30 s.
    setInterval(open, 250);
  });
} else {
  open().capture({ event_id: "evt_thread", asset_id: "credit_model", event_type: "ai_inference" });
  parentPort?.postMessage("captured");
  setInterval(() => {}, 60_000);
}
