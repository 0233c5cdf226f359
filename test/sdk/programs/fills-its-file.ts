/** Captures until its file cannot grow any more (`ulimit -f`), and prints how many events that took. */
import process from "node:process";
import { createClient } from "prooftrail-sdk";

const { CAPTURE_URL = "", CAPTURE_KEY = "", CAPTURE_FOLDER = "" } = process.env;

let isFull = false;
const client = createClient({
  url: CAPTURE_URL,
  apiKey: CAPTURE_KEY,
  outbox: { directory: CAPTURE_FOLDER },
  onProblem: ({ kind }) => {
    isFull ||= kind === "outbox";
  },
});
const metadata = { text: "x".repeat(200_000) };
let captured = 0;
for (; !isFull; captured++)
  client.capture({
    event_id: `evt_${captured}`,
    asset_id: "credit_model",
    event_type: "ai_inference",
    metadata,
  });
process.stdout.write(`${captured}`, () => process.exit());
