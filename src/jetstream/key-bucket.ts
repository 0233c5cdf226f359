/**
 * The stored API keys, in a JetStream key-value bucket (NATS ADR-8): one value per key id, and `admin` for the admin key.
 * Reads are answered from what key-watch.ts keeps in memory; writes go to the broker with the revision they build on.
 */
import { KEYS_BUCKET } from "../../streams/keys.ts";
import { isApiKeyId } from "../access/api-key.ts";
import { ADMIN_KEY_ID, type AdminKeyRecord, type ApiKeyRecord } from "../access/key-record.ts";
import type { FetchedKey, KeyStore, KeyWrite } from "../access/key-store.ts";
import { KEY_REQUEST_MS_MAX, KEY_STATE_AGE_MS_MAX } from "../limits.ts";
import { describeError, unwritten } from "./api-errors.ts";
import { createKeyWatch, heldValue, type KeyWatch, type KeyWatchDependencies } from "./key-watch.ts";

export interface KeyBucket extends KeyStore, AsyncDisposable {}

/**
 * Resolves when every key is in memory. Throws LogUnavailableError if the bucket cannot be read in time. The stream must exist:
 * reconcile.ts makes it.
 */
export const createKeyBucket = async (
  dependencies: Omit<KeyWatchDependencies, "bucket">,
): Promise<KeyBucket> => {
  const { connection, elapsedMs } = dependencies;
  // `checkAPI: false` skips a question about the account, which only the leader of the whole cluster answers. The watch below retries; that
  // question would not.
  const jetstream = connection.nats.jetstream({ timeout: KEY_REQUEST_MS_MAX, checkAPI: false });
  // Reads go to the leader. A direct get may be answered by a replica that is behind (NATS ADR-31): a rotation would build on an old value,
  // and not find the successor that it just made.
  const bucket = await jetstream.views.kv(KEYS_BUCKET, { bindOnly: true, allow_direct: false });
  const watch = await createKeyWatch({ ...dependencies, bucket });
  const write = createWriter(watch);

  return {
    ...recordsOf(watch.held),
    lost: recordsOf(watch.lost),
    list: (tenant) => {
      const records: ApiKeyRecord[] = [];
      for (const held of watch.all()) {
        if (held.kind === "key" && (tenant === undefined || held.record.tenant === tenant)) {
          records.push(held.record);
        }
      }
      return records;
    },
    fetch: async (id): Promise<FetchedKey> => {
      // Such a text is no key of the bucket, and the client throws on some of them.
      if (!isApiKeyId(id)) return { kind: "absent" };
      if (!watch.isConnected()) return NOT_CONNECTED;
      try {
        const entry = await bucket.get(id);
        const value = entry ? heldValue(entry) : undefined;
        return entry && value?.kind === "key"
          ? { kind: "found", record: value.record, revision: entry.revision }
          : { kind: "absent" };
      } catch (error) {
        return { kind: "unavailable", detail: describeError(error) };
      }
    },
    create: (record) => write(record.id, { kind: "key", record }, (bytes) => bucket.create(record.id, bytes)),
    update: (record, revision) =>
      write(record.id, { kind: "key", record }, (bytes) => bucket.update(record.id, bytes, revision)),

    createAdmin: (record) =>
      write(ADMIN_KEY_ID, { kind: "admin", record }, (bytes) => bucket.create(ADMIN_KEY_ID, bytes)),
    replaceAdmin: (record) =>
      write(ADMIN_KEY_ID, { kind: "admin", record }, (bytes) => bucket.put(ADMIN_KEY_ID, bytes)),

    readiness: () => {
      const ageMs = elapsedMs() - watch.confirmedMs();
      return ageMs <= KEY_STATE_AGE_MS_MAX ? { kind: "ready" } : { kind: "stale", ageMs };
    },
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
};

const recordsOf = (held: KeyWatch["held"]): Pick<KeyStore, "get" | "admin"> => ({
  get: (id) => {
    const value = held(id);
    return value?.kind === "key" ? value.record : undefined;
  },
  admin: () => {
    const value = held(ADMIN_KEY_ID);
    return value?.kind === "admin" ? value.record : undefined;
  },
});

/** Not tried while disconnected: the message would be lost, and that would be known only after a timeout. */
const NOT_CONNECTED = { kind: "unavailable", detail: "not connected to the broker" } as const;

type NewValue =
  | { readonly kind: "key"; readonly record: ApiKeyRecord }
  | { readonly kind: "admin"; readonly record: AdminKeyRecord };

const createWriter = (watch: KeyWatch) => {
  const encoder = new TextEncoder();
  return async (
    name: string,
    value: NewValue,
    put: (bytes: Uint8Array) => Promise<number>,
  ): Promise<KeyWrite> => {
    if (!watch.isConnected()) return NOT_CONNECTED;
    try {
      const revision = await put(encoder.encode(JSON.stringify(value.record)));
      watch.remember(name, { ...value, revision });
      return { kind: "written" };
    } catch (error) {
      return unwritten(error);
    }
  };
};
