import { hash } from "node:crypto";
import type { Sequence } from "./outcome.ts";

/**
 * Identity for deduplication. The broker trims header values, cannot hold an empty one, and shares one id space between
 * all tenants of a stream, hence a hash that carries the tenant. The kind keeps an `Idempotency-Key` and an
 * `event_id` of the same text apart.
 */
const identify = (kind: "key" | "event" | "client" | "again", tenant: string, id: string): string =>
  hash("sha256", `${kind}\0${tenant}\0${id}`, "base64url");

export const messageIdOfKey = (tenant: string, idempotencyKey: string): string =>
  identify("key", tenant, idempotencyKey);

/** For the sandbox, which is one tenant for everybody: the same example sent by two clients is not the same event. */
export const messageIdOfClient = (client: string, messageId: string): string =>
  identify("client", client, messageId);

/** Also for the sandbox: of an event that was removed at `sequence` to make room, while the broker still remembers its id. */
export const messageIdAgain = (messageId: string, sequence: Sequence): string =>
  identify("again", messageId, String(sequence));

/** `eventId` in its canonical form (event/formats.ts): a UUID in lower case. */
export const messageIdOfEvent = (tenant: string, eventId: string): string =>
  identify("event", tenant, eventId);
