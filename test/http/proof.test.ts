/** Receipts, proofs and the log's own routes over HTTP, checked with what a stranger has: key, checkpoint and hashes only. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  createCompactRange,
  leafHash,
  sameHash,
  verifyConsistency,
  verifyInclusion,
} from "../../src/proof/rfc6962.ts";
import { parseVerifierKey, type Verifier } from "../../src/proof/signed-note.ts";
import { type Checkpoint, openCheckpoint } from "../../src/proof/tlog-checkpoint.ts";
import { parseTlogProof, verifyTlogProof } from "../../src/proof/tlog-proof.ts";
import { createConnection } from "../../src/views/store/postgres-connection.ts";
import { settingsFor, startTestBroker } from "../support/broker.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
let acme: string;
let beta: string;

beforeAll(async () => {
  service = await startTestService({ CHECKPOINT_INTERVAL: "50ms", SERVICE_NAME: "audit.example" });
  acme = await service.makeKey("acme");
  beta = await service.makeKey("beta");
});
afterAll(() => service[Symbol.asyncDispose]());

const bytes = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, "base64"));

const post = async (key: string, id: string, more: object = {}) =>
  (await service.call("/v1/events", { key, body: event({ event_id: id, ...more }) })).json.data;

const verifiersOf = async (key: string): Promise<readonly Verifier[]> => {
  const { text, headers } = await service.call("/v1/log/key", { key });
  expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
  return text
    .trimEnd()
    .split("\n")
    .flatMap((line) => parseVerifierKey(line) ?? []);
};

const checkpointOf = async (key: string, tenant: string, note?: string): Promise<Checkpoint> => {
  const text = note ?? (await service.call("/v1/log/checkpoint", { key })).text;
  const opened = openCheckpoint(text, {
    origin: `audit.example/${tenant}`,
    verifiers: await verifiersOf(key),
  });
  if (opened.kind === "failed") throw new Error(opened.reason);
  return opened.checkpoint;
};

const proofOf = async (key: string, id: string) =>
  (await service.call(`/v1/events/${id}/proof?wait=10`, { key })).json.data;

describe("a receipt", () => {
  test("names the leaf that the inclusion proof proves, the first time and every time after", async () => {
    const first = await post(acme, "evt_receipt");
    const again = await post(acme, "evt_receipt");
    expect(again).toEqual({ ...first, duplicate: true });
    const proof = await proofOf(acme, "evt_receipt");
    expect(proof.leaf_hash).toBe(first.leaf_hash);
    expect(leafHash(bytes(proof.leaf))).toEqual(bytes(first.leaf_hash));
    const record = JSON.parse(Buffer.from(proof.leaf, "base64").toString());
    expect(record).toMatchObject({
      tenant: "acme",
      received_at: first.received_at,
      event: { event_id: "evt_receipt" },
    });
  });

  test("is returned for each accepted event of a batch if it is requested", async () => {
    await post(acme, "evt_batch_0");
    const events = [0, 1, 2].map((index) => event({ event_id: `evt_batch_${index}` }));
    const body = { events: [...events, { event_id: "evt_bad" }] };
    const { receipts } = (await service.call("/v1/events/batch?receipts=true", { key: acme, body })).json
      .data;
    expect(receipts).toMatchObject([
      { index: 0, event_id: "evt_batch_0", duplicate: true },
      { index: 1, event_id: "evt_batch_1", duplicate: false },
      { index: 2, event_id: "evt_batch_2", duplicate: false },
    ]);
    for (const { event_id: id, leaf_hash: hash, sequence } of receipts)
      expect(await proofOf(acme, id)).toMatchObject({ leaf_hash: hash, sequence });
    const plain = await service.call("/v1/events/batch", { key: acme, body });
    expect(plain.json.data.receipts).toBeUndefined();
    const refused = await service.call("/v1/events/batch?receipts=yes", { key: acme, body });
    expect(refused.json.errors).toMatchObject([{ path: "query:receipts" }]);
  });
});

describe("the receipt of a record that is not the first of its event", () => {
  const sendTwice = async (id: string) => {
    const first = await post(acme, id);
    const { json } = await service.call("/v1/events", {
      key: acme,
      body: event({ event_id: id }),
      headers: { "idempotency-key": `again-${id}` },
    });
    expect(json.data).toMatchObject({ duplicate: false });
    return [first, json.data] as const;
  };

  test("is upgraded to an inclusion proof with its sequence, in both forms", async () => {
    const [first, second] = await sendTwice("evt_two_identities");
    expect(second.sequence).toBeGreaterThan(first.sequence);
    expect(second.leaf_hash).not.toBe(first.leaf_hash);
    for (const receipt of [first, second]) {
      const asked = `/v1/events/evt_two_identities/proof?wait=10&sequence=${receipt.sequence}`;
      const { sequence, leaf_hash, leaf, checkpoint } = (await service.call(asked, { key: acme })).json.data;
      expect({ sequence, leaf_hash }).toEqual({ sequence: receipt.sequence, leaf_hash: receipt.leaf_hash });
      expect(leafHash(bytes(leaf))).toEqual(bytes(receipt.leaf_hash));
      await checkpointOf(acme, "acme", checkpoint);
      const file = await service.call(`${asked}&format=tlog-proof`, { key: acme });
      const verified = verifyTlogProof({
        proof: file.text,
        leaf: bytes(receipt.leaf_hash),
        origin: "audit.example/acme",
        verifiers: await verifiersOf(acme),
      });
      expect(verified.kind).toBe("verified");
    }
    expect(await proofOf(acme, "evt_two_identities")).toMatchObject({ sequence: first.sequence });
  });

  test("is not given to other tenants, and no other record is taken for it", async () => {
    const [, second] = await sendTwice("evt_shared_id");
    const others = await post(acme, "evt_of_its_own");
    const theirs = await post(beta, "evt_shared_id");
    await proofOf(beta, "evt_shared_id");
    for (const [key, sequence] of [
      [acme, others.sequence],
      [acme, theirs.sequence],
      [acme, 999_999],
      [beta, second.sequence],
    ] as const) {
      const path = `/v1/events/evt_shared_id/proof?sequence=${sequence}`;
      const { status, json } = await service.call(path, { key });
      expect([status, json.code, json.detail]).toEqual([
        404,
        "not_found",
        expect.stringContaining(`at sequence ${sequence}.`),
      ]);
    }
    for (const wrong of ["0", "x", ""]) {
      const { status, json } = await service.call(`/v1/events/evt_shared_id/proof?sequence=${wrong}`, {
        key: acme,
      });
      expect([status, json.errors[0].path]).toEqual([400, "query:sequence"]);
    }
  });
});

describe("an inclusion proof", () => {
  test("verifies with only the key, as JSON and as a tlog-proof", async () => {
    await post(acme, "evt_proven", { metadata: { text: "ünï\u0001\u{1F600}", n: 1 } });
    const proof = await proofOf(acme, "evt_proven");
    const { size, root } = await checkpointOf(acme, "acme", proof.checkpoint);
    const inclusion = {
      leaf: leafHash(bytes(proof.leaf)),
      index: proof.leaf_index,
      size,
      proof: proof.inclusion_proof.map(bytes),
      root,
    };
    expect(verifyInclusion(inclusion)).toBe(true);
    expect(verifyInclusion({ ...inclusion, index: inclusion.index + 1 })).toBe(false);

    const file = await service.call("/v1/events/evt_proven/proof?format=tlog-proof", { key: acme });
    const verified = verifyTlogProof({
      proof: file.text,
      leaf: leafHash(bytes(proof.leaf)),
      origin: "audit.example/acme",
      verifiers: await verifiersOf(acme),
    });
    expect(verified).toMatchObject({ kind: "verified", index: proof.leaf_index });
    expect(parseTlogProof(file.text)?.extra).toEqual(bytes(proof.leaf));
  });

  test("is not given to other tenants, and the checkpoint of one tenant is not accepted for another", async () => {
    await post(acme, "evt_mine");
    await post(beta, "evt_theirs");
    const { checkpoint } = await proofOf(acme, "evt_mine");
    expect((await service.call("/v1/events/evt_mine/proof?wait=1", { key: beta })).status).toBe(404);
    const options = { origin: "audit.example/beta", verifiers: await verifiersOf(beta) };
    expect(openCheckpoint(checkpoint, options)).toEqual({ kind: "failed", reason: "unknown_key" });
  });

  test("of an acknowledged event is not answered with 404 while the view is behind", async () => {
    await using behind = await startTestService({ ROLES: "api" });
    const stored = await behind.call("/v1/events", { body: event({ event_id: "evt_stored" }) });
    expect(stored.status).toBe(202);
    const waited = await behind.call("/v1/events/evt_stored/proof?wait=1");
    expect([waited.status, waited.json.code]).toEqual([503, "view_behind"]);
  });

  test("gets a clear error if the event does not exist or the question is invalid", async () => {
    expect((await service.call("/v1/events/evt_never/proof?wait=1")).json.code).toBe("not_found");
    const refused = await service.call("/v1/events/evt_mine/proof?wait=31&format=xml&x=1", { key: acme });
    expect(refused.json.errors.map(({ path }: { path: string }) => path)).toEqual([
      "query:wait",
      "query:format",
      "query:x",
    ]);
  });
});

describe("the log", () => {
  test("is proven complete by its tiles: the root over all leaves is the signed root", async () => {
    const body = {
      events: Array.from({ length: 700 }, (_, index) => event({ event_id: `evt_tile_${index}` })),
    };
    const tiled = await service.makeKey("tiled");
    const { sequence } = (await service.call("/v1/events/batch", { key: tiled, body })).json.data;
    const last = await proofOf(tiled, "evt_tile_699");
    expect(last.sequence).toBe(sequence);
    const { size, root } = await checkpointOf(tiled, "tiled", last.checkpoint);
    expect(size).toBe(700);
    const range = createCompactRange();
    for (const [path, width] of [
      ["0/000", 256],
      ["0/001", 256],
      ["0/002.p/188", 188],
    ] as const) {
      const response = await fetch(`${service.url}/v1/log/tile/${path}`, {
        headers: { authorization: `Bearer ${tiled}` },
      });
      expect(response.headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
      const tile = await response.bytes();
      expect([path, tile.length]).toEqual([path, width * 32]);
      for (let at = 0; at < tile.length; at += 32) range.append(tile.slice(at, at + 32));
    }
    expect(sameHash(range.root(), root)).toBe(true);
    for (const path of ["0/003", "0/002", "0/002.p/189", "1/000.p/3", "0/2", "0/002.p/0", "64/000", ""]) {
      const missing = await service.call(`/v1/log/tile/${path}`, { key: tiled });
      expect([path, missing.status, missing.json.code]).toEqual([path, 404, "not_found"]);
    }
    expect((await service.call("/v1/log/tile/0/000.p/1", { key: beta })).text).not.toBe(
      (await service.call("/v1/log/tile/0/000.p/1", { key: tiled })).text,
    );
  });

  test("only grows: two checkpoints are consistent", async () => {
    await post(acme, "evt_grows_1");
    const older = await checkpointOf(acme, "acme", (await proofOf(acme, "evt_grows_1")).checkpoint);
    await post(acme, "evt_grows_2");
    const newer = await checkpointOf(acme, "acme", (await proofOf(acme, "evt_grows_2")).checkpoint);
    const answer = await service.call(`/v1/log/consistency?from=${older.size}&to=${newer.size}`, {
      key: acme,
    });
    const { proof, from_root: fromRoot, to_root: toRoot } = answer.json.data;
    const consistency = {
      from: older.size,
      to: newer.size,
      fromRoot: older.root,
      toRoot: newer.root,
      proof: proof.map(bytes),
    };
    expect(verifyConsistency(consistency)).toBe(true);
    expect([bytes(fromRoot), bytes(toRoot)]).toEqual([older.root, newer.root]);
    for (const [query, path] of [
      ["", "query:from"],
      ["from=1&to=99999", "query:to"],
      ["from=99999", "query:from"],
      ["from=x", "query:from"],
    ]) {
      const refused = await service.call(`/v1/log/consistency?${query}`, { key: acme });
      expect([query, refused.status, refused.json.errors[0].path]).toEqual([query, 400, path]);
    }
  });

  test("tells its length to a client that holds a checkpoint of a longer one", async () => {
    const { json } = await service.call("/v1/log/consistency?from=99999", { key: acme });
    expect(json.errors[0].message).toMatch(/^The newest signed tree head has \d+ leaves/);
  });

  test("of a tenant without events has no checkpoint yet", async () => {
    const key = await service.makeKey("empty");
    for (const path of ["checkpoint", "consistency?from=0"])
      expect((await service.call(`/v1/log/${path}`, { key })).json.code).toBe("not_found");
    expect((await service.call("/v1/log/key", { key })).text).toMatch(
      /^audit\.example\/empty\+[0-9a-f]{8}\+/,
    );
  });

  test("is signed with a key that only its owner can read", async () => {
    const { mode } = await stat(join(service.dataDir, "checkpoint.key"));
    expect(mode & 0o777).toBe(0o600);
  });
});

describe.skipIf(noPostgresReason !== undefined)("a tree that is rebuilt on PostgreSQL", () => {
  test("causes no error when it reaches the signed size while a proof is requested", async () => {
    await using database = await (await testPostgres()).createDatabase();
    await using broker = await startTestBroker();
    const shared = {
      ...settingsFor(broker),
      DATABASE_URL: database.url,
    };
    const path = "/v1/events/evt_1/proof";
    {
      await using whole = await startTestService({ ...shared, CHECKPOINT_INTERVAL: "50ms" });
      for (const event_id of ["evt_1", "evt_2"])
        expect((await whole.call("/v1/events", { body: event({ event_id }) })).status).toBe(202);
      expect((await whole.call("/v1/events/evt_2/proof?wait=10")).status).toBe(200);
    }
    await using frontEnd = await startTestService({ ...shared, ROLES: "api" });
    const tree = createConnection(database.url);
    const [tile] = (await tree.run("SELECT hashes FROM tree_tiles")).rows;
    await tree.run("UPDATE tree_tiles SET hashes = ''");
    const asked = await tree.transaction(async (run) => {
      // Requested after the hashes were gone, and before they are back.
      await run("LOCK TABLE trees IN ACCESS EXCLUSIVE MODE");
      const answer = frontEnd.call(path);
      const waiting = "SELECT pid FROM pg_locks WHERE relation = 'trees'::regclass AND NOT granted";
      await until("its size is asked for", async () => (await run(waiting)).rows.length > 0);
      await run(`UPDATE tree_tiles SET hashes = '${tile?.hashes}'`);
      return { result: { answer }, keep: true };
    });
    expect((await asked.answer).status).toBe(200);

    await tree.run("UPDATE tree_tiles SET hashes = ''");
    const altered = await frontEnd.call(path);
    expect([altered.status, altered.json.code]).toEqual([500, "internal_error"]);
    await tree.run("UPDATE trees SET size = 0");
    const behind = await frontEnd.call(path);
    expect([behind.status, behind.json.code]).toEqual([503, "view_behind"]);
    await tree.close();
  });
});
