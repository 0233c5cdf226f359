/**
 * An attacker with every right on the machine alters stored data while nothing runs, and the service starts again on the result. Every alteration is found,
 * and the record is named. The tests of evidence alter bundles.
 *
 * 1. A service takes events of two tenants and seals them; it is stopped, and its folder is kept.
 * 2. Each test alters a copy of that folder, starts a service on it, and waits for its alarm.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type JetStreamManager, type NatsConnection, type StreamConfig } from "nats";
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

interface Message {
  readonly subject: string;
  readonly payload: string;
}

/** The messages that the service wrote, read on first use: every copy of its folder has the same. */
let written: readonly Message[] | undefined;

/** Replaces the log by what `change` makes of it, as if it had always been so: an operator of the broker can write that. */
const rewriteLog = async (dataDir: string, change: (messages: Message[]) => readonly Message[]) => {
  const ports = join(dataDir, "ports");
  const configuration = join(dataDir, "operator.conf");
  await writeFile(
    configuration,
    `accounts { ${ACCOUNT_OF.service} { jetstream: enabled, users: [{ user: operator, password: operator }] } }\nno_auth_user: operator\n`,
  );
  const server = spawn(
    await testBrokerBinary(),
    [
      "-c",
      configuration,
      "-js",
      "-sd",
      join(dataDir, "broker", "store"),
      "-a",
      "127.0.0.1",
      "-p",
      "-1",
      "--ports_file_dir",
      dataDir,
    ],
    { stdio: "ignore" },
  );
  try {
    const url = await until("the broker listens", () => listeningAt(dataDir));
    const nats = await connect({ servers: url });
    const manager = await nats.jetstreamManager();
    const { config, state } = await manager.streams.info("AUDIT");
    written ??= await messagesOf(manager, state.last_seq);
    await manager.streams.delete("AUDIT");
    await writeLog(nats, manager, config, change([...written]));
    await nats.close();
  } finally {
    server.kill("SIGTERM");
    await new Promise((resolve) => server.once("exit", resolve));
    await rm(ports, { force: true });
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

const writeLog = async (
  nats: NatsConnection,
  manager: JetStreamManager,
  config: StreamConfig,
  messages: readonly Message[],
): Promise<void> => {
  await manager.streams.add(config);
  for (const { subject, payload } of messages) nats.publish(subject, payload);
  await until("the log is written", async () => {
    const { state } = await manager.streams.info("AUDIT");
    return state.messages === messages.length;
  });
};

const alarmsOf = ({ lines }: TestService): readonly LogLine[] =>
  lines.filter(({ message }) => message === "the log, its tree and what was signed do not agree");

/** The monitor's first alarm with this code. */
const alarm = (service: TestService, code: string): Promise<LogLine> =>
  until(
    `the alarm ${code}; so far: ${JSON.stringify(service.lines.filter(({ level }) => level === "error"))}`,
    () => alarmsOf(service).find((line) => line.code === code),
  );

const started = async (dataDir: string): Promise<TestService> =>
  startTestService({ ...SETTINGS, DATA_DIR: dataDir });

const placeIn = (messages: readonly Message[]): number =>
  messages.findIndex(({ payload }) => payload.includes(`"${ID}"`));

type Tampering = [
  what: string,
  change: (messages: Message[]) => readonly Message[],
  code: string,
  /** How far the first record that has changed lies behind the altered one. */
  behind: number,
];

const ID = "evt_acme_300";

const tampered: readonly Tampering[] = [
  [
    "one bit flipped",
    (messages) => changed(messages, (payload) => payload.replace("credit_model", "credit_modem")),
    "root_differs",
    0,
  ],
  [
    "backdated",
    (messages) => changed(messages, (payload) => payload.replace('"received_at":"20', '"received_at":"19')),
    "root_differs",
    0,
  ],
  ["dropped", (messages) => messages.toSpliced(placeIn(messages), 1), "shorter_than_signed", 0],
  [
    "put behind the next",
    (messages) => {
      const place = placeIn(messages);
      const [moved, next] = messages.slice(place, place + 2);
      return moved && next ? messages.toSpliced(place, 2, next, moved) : messages;
    },
    "root_differs",
    0,
  ],
  [
    "doubled",
    (messages) => {
      const place = placeIn(messages);
      return messages.toSpliced(place, 0, ...messages.slice(place, place + 1));
    },
    "root_differs",
    1,
  ],
];

const changed = (messages: readonly Message[], change: (payload: string) => string): readonly Message[] =>
  messages.map((message) =>
    message.payload.includes(`"${ID}"`) ? { ...message, payload: change(message.payload) } : message,
  );

describe("an altered record in the log", () => {
  test.each(tampered)("%s: the monitor finds it and names the record", async (_, change, code, behind) => {
    const dataDir = await copy();
    let sequence = 0;
    await rewriteLog(dataDir, (messages) => {
      sequence = placeIn(messages) + 1 + behind;
      return change(messages);
    });
    await using service = await started(dataDir);
    expect(await alarm(service, code)).toMatchObject({ tenant: "acme", sequence });
    const { text } = await service.call("/metrics");
    expect(text).toMatch(new RegExp(`^prooftrail_monitor_alarms_total\\{kind="${code}"\\} [1-9]`, "m"));
  });

  test("the monitor finds records cut off at the end, and counts them", async () => {
    const dataDir = await copy();
    await rewriteLog(dataDir, (messages) => messages.slice(0, -1));
    await using service = await started(dataDir);
    expect(await alarm(service, "shorter_than_signed")).toMatchObject({
      tenant: "beta",
      detail: "3 records were signed, the log holds 2",
    });
  });

  test("the monitor finds one flipped bit in the broker's own file, and names the record", async () => {
    const dataDir = await copy();
    const store = join(dataDir, "broker", "store");
    const files = await readdir(store, { recursive: true });
    const block = files.find((name) => /AUDIT.*\.blk$/.test(name));
    if (block === undefined) throw new Error("the log has a file");
    const bytes = await readFile(join(store, block));
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    await writeFile(join(store, block), bytes);
    await using service = await started(dataDir);
    // The broker's own checksum makes it drop the message.
    expect(await alarm(service, "hole")).toMatchObject({ sequence: expect.any(Number) });
  });
});

/** Runs `prooftrail views verify <view>` on a folder that no service uses. */
const verifyView = async (dataDir: string, view: string): Promise<string> => {
  const environment = { DATA_DIR: dataDir, NATS_SERVER_BIN: await testBrokerBinary() };
  const { code, out, err } = await runCli(["views", "verify", view], { environment });
  expect(code).toBe(1);
  return out + err;
};

describe("an altered record in the view", () => {
  const where = "WHERE tenant = 'acme' AND event_id = 'evt_acme_300'";
  test.each([
    ["altered", `UPDATE events SET event = replace(event, 'credit_model', 'credit_modem') ${where}`],
    ["backdated", `UPDATE events SET received_at = '1999-01-01T00:00:00.000Z' ${where}`],
    ["gone", `DELETE FROM events ${where}`],
    [
      "put in the place of another",
      `UPDATE events SET sequence = (SELECT sequence FROM events ${where}) * 2 + 1 - sequence WHERE tenant = 'acme' AND event_id IN ('evt_acme_300', 'evt_acme_301')`,
    ],
    [
      "doubled",
      `INSERT INTO events SELECT tenant, 'evt_acme_300_again', sequence, received_at, request_id, received, occurred, retention_class, counted_from, expired_at, event FROM events ${where}`,
    ],
  ])("%s: comparing the view with the log finds it and names the record", async (_, sql) => {
    const dataDir = await copy();
    await inViews(dataDir, sql);
    const found = await verifyView(dataDir, "events");
    expect(found).toContain("evt_acme_300");
    expect(found).not.toContain("evt_acme_299");
  });
});

test("if log and tree are altered together, the signed heads still reveal it", async () => {
  const dataDir = await copy();
  await rewriteLog(dataDir, (messages) =>
    changed(messages, (payload) => payload.replace("credit_model", "credit_modem")),
  );
  // The tree is rebuilt from the altered log.
  await inViews(dataDir, "UPDATE views SET version = 0 WHERE name = 'tree'");
  await using service = await started(dataDir);
  const line = await alarm(service, "root_differs");
  expect(line).toMatchObject({
    tenant: "acme",
    detail: expect.stringMatching(/^leaves \d+ to 599 are not as they were signed/),
  });
  // The next event gives the sealer something to sign.
  const key = await service.makeKey("acme");
  await service.call("/v1/events", { key, body: event({ event_id: "evt_next" }) });
  const refused = await until("the sealer refuses", () =>
    service.lines.find(({ message }) => message === "a tree head is not signed"),
  );
  expect(refused).toMatchObject({ tenant: "acme", code: "does_not_extend" });
});

const inViews = async (dataDir: string, sql: string): Promise<void> => {
  const database = openViewsFile(dataDir);
  expect(await database.exec(sql)).toBeGreaterThan(0);
  database.close();
};

describe("an altered hash in the tree", () => {
  test("if a hash of a full tile is altered, the leaf is named, and no proof is given", async () => {
    const dataDir = await copy();
    await inViews(
      dataDir,
      "UPDATE tree_tiles SET hashes = substr(hashes, 1, 430) || 'AAAA' || substr(hashes, 435) WHERE tenant = 'acme' AND level = 0 AND tile = 0",
    );
    await using service = await started(dataDir);
    // Character 430 of base64 lies in byte 322, and so in the eleventh hash.
    expect(await alarm(service, "tile_differs")).toMatchObject({
      tenant: "acme",
      detail: "leaf 10 is not the hash of its record",
    });
    const key = await service.makeKey("acme");
    const answer = await service.call("/v1/events/evt_acme_11/proof", { key });
    expect(answer.json).toMatchObject({ code: "internal_error", detail: expect.stringContaining("rebuild") });
  });

  // Three hashes are 96 bytes, 128 characters of base64.
  test.each([
    [
      "put in the place of others",
      "substr(hashes, 129, 128) || substr(hashes, 1, 128) || substr(hashes, 257)",
      0,
    ],
    ["doubled", "substr(hashes, 1, 128) || substr(hashes, 1, 128) || substr(hashes, 257)", 3],
  ])("if a hash of a full tile is %s, the leaf is named", async (_, hashes, leaf) => {
    const dataDir = await copy();
    await inViews(
      dataDir,
      `UPDATE tree_tiles SET hashes = ${hashes} WHERE tenant = 'acme' AND level = 0 AND tile = 0`,
    );
    await using service = await started(dataDir);
    expect(await alarm(service, "tile_differs")).toMatchObject({
      tenant: "acme",
      detail: `leaf ${leaf} is not the hash of its record`,
    });
  });

  test("if a full tile is gone, the tile is named", async () => {
    const dataDir = await copy();
    await inViews(dataDir, "DELETE FROM tree_tiles WHERE tenant = 'acme' AND level = 0 AND tile = 1");
    await using service = await started(dataDir);
    expect(await alarm(service, "tile_differs")).toMatchObject({
      tenant: "acme",
      detail: "tile 0/1 is gone",
    });
  });

  test("if a hash at the edge of the tree is altered, nothing more is signed for the tenant", async () => {
    const dataDir = await copy();
    await inViews(
      dataDir,
      "UPDATE tree_tiles SET hashes = 'AAAA' || substr(hashes, 5) WHERE tenant = 'acme' AND level = 0 AND tile = 2",
    );
    await using service = await started(dataDir);
    const key = await service.makeKey("acme");
    const before = (await service.call("/v1/log/checkpoint", { key })).text;
    await service.call("/v1/events", { key, body: event({ event_id: "evt_acme_more" }) });
    const refused = await until("the sealer refuses", () =>
      service.lines.find(({ message }) => message === "a tree head is not signed"),
    );
    expect(refused).toMatchObject({ tenant: "acme", code: "does_not_extend" });
    expect((await service.call("/v1/log/checkpoint", { key })).text).toBe(before);
  });
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
