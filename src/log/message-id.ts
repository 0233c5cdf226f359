import { hash } from "node:crypto";

/**
 * Identity for deduplication. The broker trims header values, cannot hold an empty one, and shares one id space between
 * all tenants of a stream, hence a hash that carries the tenant. The kind keeps an `Idempotency-Key` and an
 * `event_id` of the same text apart.
 */
const identify = (kind: "key" | "event", tenant: string, id: string): string =>
  hash("sha256", `${kind}\0${tenant}\0${id}`, "base64url");

export const messageIdOfKey = (tenant: string, idempotencyKey: string): string =>
  identify("key", tenant, idempotencyKey);

/** `eventId` in its canonical form (event/formats.ts): a UUID in lower case. */
export const messageIdOfEvent = (tenant: string, eventId: string): string =>
  identify("event", tenant, eventId);
