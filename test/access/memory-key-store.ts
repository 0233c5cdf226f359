/** The key store without a broker, for the tests of the rules. It passes key-store-suite.ts, as the bucket does. */
import type { AdminKeyRecord, ApiKeyRecord } from "../../src/access/key-record.ts";
import type { KeyStore, KeyWrite } from "../../src/access/key-store.ts";

export interface MemoryKeyStore extends KeyStore {
  /** From now on it does not answer, or answers again. */
  setReachable(isReachable: boolean): void;
  /** Runs once, before the next `update`: a change by somebody else at that moment. */
  beforeNextUpdate(action: () => Promise<unknown>): void;
}

export const createMemoryKeyStore = (): MemoryKeyStore => {
  const records = new Map<string, { record: ApiKeyRecord; revision: number }>();
  let admin: AdminKeyRecord | undefined;
  let revision = 0;
  let isReachable = true;
  let interruption: (() => Promise<unknown>) | undefined;

  const away = { kind: "unavailable", detail: "away" } as const;
  const store = (record: ApiKeyRecord): KeyWrite => {
    revision++;
    records.set(record.id, { record, revision });
    return { kind: "written" };
  };
  const storeAdmin = (record: AdminKeyRecord): KeyWrite => {
    admin = record;
    return { kind: "written" };
  };
  return {
    get: (id) => records.get(id)?.record,
    list: (tenant) =>
      [...records.values()]
        .map(({ record }) => record)
        .filter((record) => tenant === undefined || record.tenant === tenant),
    fetch: async (id) => {
      if (!isReachable) return away;
      const stored = records.get(id);
      return stored ? { kind: "found", ...stored } : { kind: "absent" };
    },
    create: async (record) => {
      if (!isReachable) return away;
      return records.has(record.id) ? { kind: "conflict" } : store(record);
    },
    update: async (record, expected) => {
      const action = interruption;
      interruption = undefined;
      await action?.();
      if (!isReachable) return away;
      return records.get(record.id)?.revision === expected ? store(record) : { kind: "conflict" };
    },
    admin: () => admin,
    lost: { get: () => undefined, admin: () => undefined },
    createAdmin: async (record) => {
      if (!isReachable) return away;
      return admin ? { kind: "conflict" } : storeAdmin(record);
    },
    replaceAdmin: async (record) => (isReachable ? storeAdmin(record) : away),
    readiness: () => ({ kind: "ready" }),
    setReachable: (value) => {
      isReachable = value;
    },
    beforeNextUpdate: (action) => {
      interruption = action;
    },
  };
};
