/** Makes a client, whose timers and listeners are then the only things left. */
import process from "node:process";
import { createClient } from "prooftrail-sdk";

const client = createClient({ url: "http://127.0.0.1:9", apiKey: "ptk_1", outbox: { memory: true } });
process.stdout.write(`${client.stats.pending.events}\n`);
