import { connect } from "nats";
import { randomBytes } from "node:crypto";
import { createKeyBucket } from "../../src/jetstream/key-bucket.ts";
import { createKeys } from "../../src/access/keys.ts";
import { authenticate } from "../../src/access/authenticate.ts";
import { silentLogger } from "../support/broker.ts";
import { keysStream } from "../../streams/keys.ts";
const as = (user: string, pass: string, port: number) => connect({ servers: `127.0.0.1:${port}`, user, pass, maxReconnectAttempts: -1, reconnectTimeWait: 200 });
const p = await as("provisioner", "bb22", 14221);
const { name, settings } = keysStream({ replicas: 3 });
console.log((await p.request(`$JS.API.STREAM.CREATE.${name}`, JSON.stringify({ name, ...settings }), { timeout: 10000 })).json<any>().error ?? "created");
const logger = { ...silentLogger, warn: (m: string, f: any) => console.log((performance.now()|0), "WARN", m, f?.detail) };
const open = async (port: number) => { const c = await as("service", "aa11", port); const b = await createKeyBucket({ connection: c, logger, elapsedMs: () => performance.now() }); return { c, b }; };
const A = await open(14222), B = await open(14222), C = await open(14222);
const admin: any = { keyId: "admin", tenant: "default", scopes: ["keys:manage"], isAdmin: true };
const keys = createKeys({ store: A.b, now: () => new Date(), randomBytes });
const ok = (b: any, k: string) => authenticate({ authorization: `Bearer ${k}`, keys: b, now: new Date() }).kind === "principal";
const lag = async () => { const m: any = await keys.create({ principal: admin, request: { scopes: ["events:read"] } }); if (m.kind !== "created") return m.kind + " " + m.detail + " " + JSON.stringify([A,B,C].map((x)=>x.b.readiness())); const t = performance.now(); while (!(ok(B.b, m.apiKey) && ok(C.b, m.apiKey))) { await new Promise((r) => setTimeout(r, 1)); if (performance.now() - t > 20000) return "NEVER"; } return (performance.now() - t).toFixed(1) + " ms"; };
for (let i = 0; i < 5; i++) console.log("lag", await lag());
const jsm = await A.c.jetstreamManager();
const info = await jsm.streams.info(name); console.log("leader", info.cluster?.leader);
for await (const ci of jsm.consumers.list(name)) console.log("consumer on", ci.cluster?.leader);
const { readFileSync } = await import("node:fs");
// Kill a node that is not the stream leader and not A's own, then the leader.
const victim = process.env.VICTIM === "leader" ? info.cluster!.leader : "nats-3";
for (const v of [victim]) {
  process.kill(Number(readFileSync(`/tmp/clu/n${v.at(-1)}.pid`, "utf8")), "SIGKILL"); console.log((performance.now()|0), "killed", v);
  const t = performance.now();
  for (let i = 0; i < 12; i++) { console.log((performance.now()|0), "lag", await lag(), A.b.readiness(), B.b.readiness(), C.b.readiness()); await new Promise((r) => setTimeout(r, 700)); }
}
process.exit(0);
