import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryKeyStore } from "../../test/access/memory-key-store.ts";
import { setUpAdminKey } from "./admin-key.ts";
import { hashSecret, parseApiKey } from "./api-key.ts";
import type { AdminKeyRecord } from "./key-record.ts";

const setUp = async () => {
  const directory = await mkdtemp(join(tmpdir(), "prooftrail-admin-"));
  const dataDir = join(directory, "data");
  const store = createMemoryKeyStore();
  return {
    dataDir,
    store,
    start: (configured?: string, startStore: Parameters<typeof setUpAdminKey>[0]["store"] = store) =>
      setUpAdminKey({ store: startStore, dataDir, now: () => new Date(), randomBytes, configured }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
};

const readKey = async (dataDir: string) => (await readFile(join(dataDir, "admin.key"), "utf8")).trim();

test("the first start makes a key, stores only its hash, and leaves a copy that only its owner can read", async () => {
  await using first = await setUp();
  const outcome = await first.start();
  if (outcome.kind !== "made") throw new Error(outcome.kind);
  expect(parseApiKey(outcome.key)).toBeDefined();
  expect(first.store.admin()?.secret_hash).toBe(hashSecret(outcome.key));
  expect(outcome.path).toBe(join(first.dataDir, "admin.key"));
  expect(await readKey(first.dataDir)).toBe(outcome.key);
  expect((await stat(outcome.path)).mode & 0o777).toBe(0o600);
  expect(await readdir(first.dataDir)).toEqual(["admin.key"]);
});

test("the second start makes no key and shows none", async () => {
  await using started = await setUp();
  await started.start();
  const key = await readKey(started.dataDir);
  const path = join(started.dataDir, "admin.key");
  expect(await started.start()).toEqual({ kind: "kept", path });
  expect(await readKey(started.dataDir)).toBe(key);
});

test("ADMIN_API_KEY becomes the admin key and is not written to disk", async () => {
  await using started = await setUp();
  const chosen = "chosen-by-the-operator";
  expect(await started.start(chosen)).toEqual({ kind: "replaced", hadOne: false });
  expect(started.store.admin()?.secret_hash).toBe(hashSecret(chosen));
  expect(await started.start(chosen)).toEqual({ kind: "kept" });
  expect(await started.start("chosen-by-the-operator-2")).toEqual({ kind: "replaced", hadOne: true });
  // The key still works after it is removed from the environment.
  expect(await started.start()).toEqual({ kind: "kept" });
  expect(await readdir(started.dataDir).catch(() => [])).toEqual([]);
});

test("the copy of a key that ADMIN_API_KEY replaces is removed, but a different file of that name is left alone", async () => {
  await using started = await setUp();
  await started.start();
  const chosen = "chosen-by-the-operator";
  expect((await started.start(chosen)).kind).toBe("replaced");
  expect(await readdir(started.dataDir)).toEqual([]);
  expect(await started.start()).toEqual({ kind: "kept" });
  await writeFile(join(started.dataDir, "admin.key"), "of another installation\n");
  expect((await started.start("chosen-by-the-operator-2")).kind).toBe("replaced");
  expect(await started.start()).toEqual({ kind: "kept" });
  expect(await readKey(started.dataDir)).toBe("of another installation");
});

test("the next start makes another key if a start was cut off before the store had the key", async () => {
  await using started = await setUp();
  started.store.setReachable(false);
  expect((await started.start()).kind).toBe("unavailable");
  expect(await readdir(started.dataDir)).toHaveLength(1);
  started.store.setReachable(true);
  const outcome = await started.start();
  if (outcome.kind !== "made") throw new Error(outcome.kind);
  expect(await readKey(started.dataDir)).toBe(outcome.key);
  // The copy that the first start left is of no use, and the next start removes it.
  expect((await started.start()).kind).toBe("kept");
  expect(await readdir(started.dataDir)).toEqual(["admin.key"]);
});

test("the next start has the copy if a start was cut off after the store had the key", async () => {
  await using started = await setUp();
  const cut = {
    ...started.store,
    createAdmin: async (record: AdminKeyRecord) => {
      await started.store.createAdmin(record);
      throw new Error("power failure");
    },
  };
  await expect(started.start(undefined, cut)).rejects.toThrow("power failure");
  expect((await started.start()).kind).toBe("kept");
  expect(hashSecret(await readKey(started.dataDir))).toBe(started.store.admin()?.secret_hash ?? "");
  expect(await readdir(started.dataDir)).toEqual(["admin.key"]);
});

test("the key that works replaces an older one in admin.key", async () => {
  await using started = await setUp();
  await started.start();
  await writeFile(join(started.dataDir, "admin.key"), "of an installation that was wiped\n");
  const other = createMemoryKeyStore();
  expect((await started.start(undefined, other)).kind).toBe("made");
  expect(other.admin()?.secret_hash).toBe(hashSecret(await readKey(started.dataDir)));
});
