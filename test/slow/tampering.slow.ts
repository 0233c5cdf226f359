/**
 * An attacker with every right on the machine alters stored data while nothing runs, and the service starts again on the result. Every alteration is found,
 * and the record is named. The tests of evidence alter bundles.
 *
 * 1. A service takes events of two tenants and seals them; it is stopped, and its folder is kept.
 * 2. Each test alters a copy of that folder, starts a service on it, and waits for its alarm.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type JetStreamManager } from "nats";
import { ACCOUNT_OF } from "../../streams/permissions.ts";
import { testBrokerBinary } from "../support/broker.ts";
import { callUntilSeen } from "../support/call-until-seen.ts";
import { runCli } from "../support/cli.ts";
import { event, type LogLine, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { openViewsFile } from "../support/views-file.ts";

const EVENTS = 600;
const SETTINGS = { CHECKPOINT_INTERVAL: "50ms" };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "prooftrail-tampering-"));
  const dataDir = join(folder, "original");
  const last = [
    ["acme", EVENTS],
    ["beta", 3],
  ] as const;
  const keys = new Map<string, string>();
  // At first without the sealer, so that each tree has one head over all of its records: a head in between would find some alterations in another way.
  const taking = await startTestService({ DATA_DIR: dataDir, ROLES: "api,projector" });
  for (const [tenant, count] of last) {
    const key = await taking.makeKey(tenant);
    keys.set(tenant, key);
    const events = Array.from({ length: count }, (_, index) => event({ event_id: `evt_${tenant}_${index}` }));
    const { json } = await taking.call("/v1/events/batch", { key, body: { events } });
    await callUntilSeen(taking.call, `/v1/events?limit=1&min_sequence=${json.data.sequence}`, { key });
  }
  await taking.service.stop();
  const sealing = await startTestService({ ...SETTINGS, DATA_DIR: dataDir });
  for (const [tenant, count] of last) {
    const path = `/v1/events/evt_${tenant}_${count - 1}/proof?wait=10`;
    const sealed = await sealing.call(path, { key: keys.get(tenant) ?? "" });
    expect(sealed.status).toBe(200);
  }
  await sealing.service.stop();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let copies = 0;
const copy = async (): Promise<string> => {
  const path = join(folder, `copy-${copies++}`);
  await cp(join(folder, "original"), path, { recursive: true });
  return path;
};

const ID = "evt_acme_300";

interface Message {
  readonly subject: string;
  readonly payload: string;
}

type Change = (messages: readonly Message[], place: number) => readonly Message[];

/** The messages that the service wrote, read on first use: every copy of its folder has the same. */
let written: readonly Message[] | undefined;

/** Replaces the log by what `change` makes of it, as if it had always been so: an operator of the broker can write that. Returns the place of ID. */
const rewriteLog = async (dataDir: string, change: Change): Promise<number> => {
  const configuration = join(dataDir, "operator.conf");
  await writeFile(
    configuration,
    `accounts { ${ACCOUNT_OF.service} { jetstream: enabled, users: [{ user: operator, password: operator }] } }\nno_auth_user: operator\n`,
  );
  const store = join(dataDir, "broker", "store");
  const listens = ["-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", dataDir];
  const server = spawn(await testBrokerBinary(), ["-c", configuration, "-js", "-sd", store, ...listens], {
    stdio: "ignore",
  });
  try {
    const url = await until("the broker listens", () => listeningAt(dataDir));
    const nats = await connect({ servers: url });
    const manager = await nats.jetstreamManager();
    const { config, state } = await manager.streams.info("AUDIT");
    written ??= await messagesOf(manager, state.last_seq);
    const place = written.findIndex(({ payload }) => payload.includes(`"${ID}"`));
    const changed = change(written, place);
    await manager.streams.delete("AUDIT");
    await manager.streams.add(config);
    for (const { subject, payload } of changed) nats.publish(subject, payload);
    await until("the log is written", async () => {
      const info = await manager.streams.info("AUDIT");
      return info.state.messages === changed.length;
    });
    await nats.close();
    return place;
  } finally {
    server.kill("SIGTERM");
    await new Promise((resolve) => server.once("exit", resolve));
  }
};

const listeningAt = async (dataDir: string): Promise<string | undefined> => {
  const name = (await readdir(dataDir)).find((each) => each.endsWith(".ports"));
  const text = name && (await readFile(join(dataDir, name), "utf8"));
  const [url] = text ? (JSON.parse(text).nats ?? []) : [];
  return url;
};

const messagesOf = async (manager: JetStreamManager, last: number): Promise<Message[]> => {
  const messages: Message[] = [];
  for (let seq = 1; seq <= last; seq++) {
    const { subject, data } = await manager.streams.getMessage("AUDIT", { seq });
    messages.push({ subject, payload: new TextDecoder().decode(data) });
  }
  return messages;
};

const inPayload =
  (change: (payload: string) => string): Change =>
  (messages, place) =>
    messages.map((message, at) =>
      at === place ? { ...message, payload: change(message.payload) } : message,
    );
const FLIPPED = inPayload((payload) => payload.replace("credit_model", "credit_modem"));

const inViews = async (dataDir: string, sql: string): Promise<void> => {
  const database = openViewsFile(dataDir);
  expect(await database.exec(sql)).toBeGreaterThan(0);
  database.close();
};

const lineOf = (service: TestService, what: string, isIt: (line: LogLine) => boolean): Promise<LogLine> =>
  until(`${what}; so far: ${JSON.stringify(service.lines.filter(({ level }) => level === "error"))}`, () =>
    service.lines.find(isIt),
  );

/** The monitor's first alarm with this code. */
const alarm = (service: TestService, code: string): Promise<LogLine> =>
  lineOf(
    service,
    `the alarm ${code}`,
    (line) => line.message === "the log, its tree and signed heads do not agree" && line.code === code,
  );

const started = async (dataDir: string): Promise<TestService> =>
  startTestService({ ...SETTINGS, DATA_DIR: dataDir });

/** An event gives the sealer something to sign, and it refuses. */
const expectRefusal = async (service: TestService): Promise<void> => {
  const key = await service.makeKey("acme");
  const before = (await service.call("/v1/log/checkpoint", { key })).text;
  await service.call("/v1/events", { key, body: event({ event_id: "evt_acme_more" }) });
  const refused = await lineOf(
    service,
    "it refuses",
    ({ message }) => message === "a tree head is not signed",
  );
  expect(refused).toMatchObject({ tenant: "acme", code: "does_not_extend" });
  expect((await service.call("/v1/log/checkpoint", { key })).text).toBe(before);
};

/** `behind`: how far the first record that has changed lies behind the altered one. */
const inLog: readonly (readonly [what: string, change: Change, code: string, behind: number])[] = [
  ["one bit flipped", FLIPPED, "root_differs", 0],
  [
    "backdated",
    inPayload((payload) => payload.replace('"received_at":"20', '"received_at":"19')),
    "root_differs",
    0,
  ],
  ["dropped", (messages, place) => messages.toSpliced(place, 1), "shorter_than_signed", 0],
  [
    "put behind the next",
    (messages, place) => messages.toSpliced(place, 2, ...messages.slice(place, place + 2).reverse()),
    "root_differs",
    0,
  ],
  [
    "doubled",
    (messages, place) => messages.toSpliced(place, 0, ...messages.slice(place, place + 1)),
    "root_differs",
    1,
  ],
];
test.each(inLog)(
  "a record in the log %s: the monitor finds it and names the record",
  async (_, change, code, behind) => {
    const dataDir = await copy();
    const sequence = (await rewriteLog(dataDir, change)) + 1 + behind;
    await using service = await started(dataDir);
    expect(await alarm(service, code)).toMatchObject({ tenant: "acme", sequence });
    const { text } = await service.call("/metrics");
    expect(text).toMatch(new RegExp(`^prooftrail_monitor_alarms_total\\{kind="${code}"\\} [1-9]`, "m"));
  },
);

test("records cut off at the end of the log: the monitor counts them", async () => {
  const dataDir = await copy();
  await rewriteLog(dataDir, (messages) => messages.slice(0, -1));
  await using service = await started(dataDir);
  const detail = "3 records were signed, the log holds 2";
  expect(await alarm(service, "shorter_than_signed")).toMatchObject({ tenant: "beta", detail });
});

test("one bit flipped in the broker's own file: the broker's checksum makes it drop the record, and the monitor finds the hole", async () => {
  const dataDir = await copy();
  const store = join(dataDir, "broker", "store");
  const block = (await readdir(store, { recursive: true })).find((name) => /AUDIT.*\.blk$/.test(name));
  if (block === undefined) throw new Error("the log has a file");
  const bytes = await readFile(join(store, block));
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await writeFile(join(store, block), bytes);
  await using service = await started(dataDir);
  expect(await alarm(service, "hole")).toMatchObject({ sequence: expect.any(Number) });
});

test("log and tree altered together: the signed heads still reveal it", async () => {
  const dataDir = await copy();
  await rewriteLog(dataDir, FLIPPED);
  // The tree is rebuilt from the altered log.
  await inViews(dataDir, "UPDATE views SET version = 0 WHERE name = 'tree'");
  await using service = await started(dataDir);
  const detail = expect.stringMatching(/^leaves \d+ to 599 differ from those signed/);
  expect(await alarm(service, "root_differs")).toMatchObject({ tenant: "acme", detail });
  await expectRefusal(service);
});

const THIS = `WHERE tenant = 'acme' AND event_id = '${ID}'`;
test.each([
  ["altered", `UPDATE events SET event = replace(event, 'credit_model', 'credit_modem') ${THIS}`],
  [
    "put in the place of another",
    `UPDATE events SET sequence = (SELECT sequence FROM events ${THIS}) * 2 + 1 - sequence WHERE tenant = 'acme' AND event_id IN ('evt_acme_300', 'evt_acme_301')`,
  ],
])(
  "a record in the view %s: comparing the view with the log finds it and names the record",
  async (_, sql) => {
    const dataDir = await copy();
    await inViews(dataDir, sql);
    const environment = { DATA_DIR: dataDir, NATS_SERVER_BIN: await testBrokerBinary() };
    const { code, out, err } = await runCli(["views", "verify", "events"], { environment });
    expect([code, out + err]).toEqual([1, expect.stringContaining(ID)]);
    expect(out + err).not.toContain("evt_acme_299");
  },
);

const tileIs = (hashes: string, tile = 0): string =>
  `UPDATE tree_tiles SET hashes = ${hashes} WHERE tenant = 'acme' AND level = 0 AND tile = ${tile}`;
// Character 430 of base64 lies in byte 322, and so in the eleventh hash. Three hashes are 96 bytes, 128 characters of base64.
test.each([
  [
    "with an altered hash",
    tileIs("substr(hashes, 1, 430) || 'AAAA' || substr(hashes, 435)"),
    "leaf 10 is not the hash of its record",
  ],
  [
    "with hashes put in the place of others",
    tileIs("substr(hashes, 129, 128) || substr(hashes, 1, 128) || substr(hashes, 257)"),
    "leaf 0 is not the hash of its record",
  ],
  [
    "with hashes doubled",
    tileIs("substr(hashes, 1, 128) || substr(hashes, 1, 128) || substr(hashes, 257)"),
    "leaf 3 is not the hash of its record",
  ],
  [
    "that is gone",
    "DELETE FROM tree_tiles WHERE tenant = 'acme' AND level = 0 AND tile = 1",
    "tile 0/1 is gone",
  ],
])(
  "a full tile of the tree %s: leaf or tile is named, and no proof is given of it",
  async (_, sql, detail) => {
    const dataDir = await copy();
    await inViews(dataDir, sql);
    await using service = await started(dataDir);
    expect(await alarm(service, "tile_differs")).toMatchObject({ tenant: "acme", detail });
    const key = await service.makeKey("acme");
    const event = detail.startsWith("tile") ? "evt_acme_300" : "evt_acme_11";
    const answer = await service.call(`/v1/events/${event}/proof`, { key });
    expect(answer.json).toMatchObject({ code: "internal_error", detail: expect.stringContaining("rebuild") });
  },
);

test("an altered hash at the edge of the tree: nothing more is signed for the tenant", async () => {
  const dataDir = await copy();
  await inViews(dataDir, tileIs("'AAAA' || substr(hashes, 5)", 2));
  await using service = await started(dataDir);
  await expectRefusal(service);
});

test("unaltered data raises no alarm", async () => {
  const dataDir = await copy();
  await using service = await started(dataDir);
  await until("the log was read again", async () =>
    /^prooftrail_monitor_position 60\d$/m.test((await service.call("/metrics")).text),
  );
  const key = await service.makeKey("acme");
  await service.call("/v1/events", { key, body: event({ event_id: "evt_acme_more" }) });
  expect((await service.call("/v1/events/evt_acme_more/proof?wait=10", { key })).status).toBe(200);
  expect(service.lines.filter(({ level }) => level === "error")).toEqual([]);
});
