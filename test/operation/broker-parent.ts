/** A process that owns a broker and can be killed; broker.test.ts starts it on Bun and on Deno. */
import process from "node:process";
import { startBroker } from "../../src/nats/broker/supervise.ts";

const [binary = "", directory = ""] = process.argv.slice(2);
const logger = { isEnabled: () => false, request() {}, debug() {}, info() {}, warn() {}, error() {} };
const broker = await startBroker({ binary, directory, logger });
process.stdout.write(`${JSON.stringify({ pid: process.pid })}\n`);
process.once("SIGTERM", async () => {
  await broker.stop();
  process.exit(0);
});
