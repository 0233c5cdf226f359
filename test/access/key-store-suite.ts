/** What every key store promises. The test of each implementation calls it. */
import { expect, test } from "bun:test";
import { hashSecret } from "../../src/access/api-key.ts";
import type { ApiKeyRecord } from "../../src/access/key-record.ts";
import type { KeyStore } from "../../src/access/key-store.ts";

export interface OpenKeyStore extends AsyncDisposable {
  readonly store: KeyStore;
}

let made = 0;

/** A record that is unique in this process. */
export const someRecord = (changes: Partial<ApiKeyRecord> = {}): ApiKeyRecord => ({
  id: `key${String(made++).padStart(9, "0")}`,
  tenant: "acme",
  scopes: ["events:write"],
  secret_hash: hashSecret(`secret ${made}`),
  created_at: "2026-11-01T00:00:00.000Z",
  created_by: "admin",
  ...changes,
});

export const testKeyStore = (name: string, open: () => Promise<OpenKeyStore>): void => {
  test(`${name}: a new key is available at once to get, list and fetch`, async () => {
    await using opened = await open();
    const { store } = opened;
    const record = someRecord({ tenant: "suite-a", name: "checkout" });
    expect(await store.create(record)).toEqual({ kind: "written" });
    expect(store.get(record.id)).toEqual(record);
    expect(store.list("suite-a")).toEqual([record]);
    expect(store.list("suite-b")).toEqual([]);
    expect(store.list()).toContainEqual(record);
    expect(await store.fetch(record.id)).toMatchObject({ kind: "found", record });
  });

  test(`${name}: a key that does not exist is absent, whatever its id looks like`, async () => {
    await using opened = await open();
    const { store } = opened;
    for (const id of ["0123456789AB", "admin", "", ".", "a.b", "*", ">", "a b", "ü", "0123456789AB.x"]) {
      expect(store.get(id)).toBeUndefined();
      expect(await store.fetch(id)).toEqual({ kind: "absent" });
    }
  });

  test(`${name}: an id can be used only once`, async () => {
    await using opened = await open();
    const { store } = opened;
    const record = someRecord();
    await store.create(record);
    expect(await store.create({ ...record, tenant: "thief" })).toEqual({ kind: "conflict" });
    expect(store.get(record.id)).toEqual(record);
  });

  test(`${name}: of two changes that are based on the same state one is refused`, async () => {
    await using opened = await open();
    const { store } = opened;
    const record = someRecord();
    await store.create(record);
    const found = await store.fetch(record.id);
    if (found.kind !== "found") throw new Error("the key was just created");
    const first = { ...record, name: "first" };
    expect(await store.update(first, found.revision)).toEqual({ kind: "written" });
    expect(store.get(record.id)).toEqual(first);
    expect(await store.update({ ...record, name: "second" }, found.revision)).toEqual({ kind: "conflict" });
    expect(store.get(record.id)).toEqual(first);
  });

  test(`${name}: the admin key is made once and can be replaced`, async () => {
    await using opened = await open();
    const { store } = opened;
    const first = { secret_hash: hashSecret("first"), created_at: "2026-11-01T00:00:00.000Z" };
    const second = { secret_hash: hashSecret("second"), created_at: "2026-11-02T00:00:00.000Z" };
    expect(store.admin()).toBeUndefined();
    expect(await store.createAdmin(first)).toEqual({ kind: "written" });
    expect(store.admin()).toEqual(first);
    expect(await store.createAdmin(second)).toEqual({ kind: "conflict" });
    expect(await store.replaceAdmin(second)).toEqual({ kind: "written" });
    expect(store.admin()).toEqual(second);
    expect(store.list()).toEqual([]);
  });

  test(`${name}: a new store is ready`, async () => {
    await using opened = await open();
    expect(opened.store.readiness()).toEqual({ kind: "ready" });
  });
};
