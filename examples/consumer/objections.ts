/**
 * Follows the stream and prints each objection. It stores the sequence of what it has handled, and continues there after a restart, so that it handles
 * each event at least once and misses none. OBJECTIONS_STATE names the file (default: objections.seq).
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect } from "nats";

const stateFile = process.env.OBJECTIONS_STATE ?? "objections.seq";
const consumerUrl = readFileSync(`${process.env.DATA_DIR ?? "data"}/broker/consumer.url`, "utf8").trim();
const { host, username, password } = new URL(consumerUrl);

const handled = (): number => {
  try {
    return Number(readFileSync(stateFile, "utf8"));
  } catch {
    return 0;
  }
};

/** A rename replaces the file at once, so that a killed process leaves the old number or the new one. */
const store = (sequence: number): void => {
  writeFileSync(`${stateFile}.new`, String(sequence));
  renameSync(`${stateFile}.new`, stateFile);
};

// Without -1 the client gives up after a while without a broker.
const nats = await connect({ servers: host, user: username, pass: password, maxReconnectAttempts: -1 });
const consumer = await nats.jetstream().consumers.get("AUDIT", {
  filterSubjects: "audit.*.*.objection.received",
  opt_start_seq: handled() + 1,
});
for await (const message of await consumer.consume()) {
  const { tenant, event } = message.json<{ tenant: string; event: { event_id: string; asset_id: string } }>();
  process.stdout.write(`${message.seq} ${tenant} ${event.asset_id} ${event.event_id}\n`);
  store(message.seq);
}
