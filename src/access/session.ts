/**
 * The session of a browser: an API key, sealed in a cookie (sealed.ts). A stolen cookie does not show the key, and who reads the stored hash
 * still lacks what is sealed.
 */
import { Buffer } from "node:buffer";
import { SESSION_IDLE_MS_MAX, SESSION_MS_MAX } from "../limits.ts";
import type { RandomBytes } from "./api-key.ts";
import type { KeyStore } from "./key-store.ts";
import { open, seal } from "./sealed.ts";

export interface Session {
  /** `admin` for the admin key. */
  readonly keyId: string;
  /** What the browser would have sent without a session. */
  readonly apiKey: string;
  /** Sent with every write (X-CSRF-Token). A page of another origin cannot read it. */
  readonly csrfToken: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly usedAt: number;
}

type Keys = Pick<KeyStore, "get" | "admin">;

export const startSession = (
  key: Pick<Session, "keyId" | "apiKey">,
  now: Date,
  randomBytes: RandomBytes,
): Session => ({
  ...key,
  csrfToken: Buffer.from(randomBytes(CSRF_BYTES)).toString("base64url"),
  startedAt: now.getTime(),
  usedAt: now.getTime(),
});

export const isOver = ({ startedAt }: Session, now: Date): boolean =>
  now.getTime() >= startedAt + SESSION_MS_MAX;

/** The value of the cookie. Undefined if no such key is stored. */
export const sealSession = (session: Session, keys: Keys, randomBytes: RandomBytes): string | undefined =>
  seal(session, { purpose: PURPOSE, keys, randomBytes });

/** Undefined for what no front end sealed, and for a session that is over or was idle for too long. */
export const openSession = (sealed: string, keys: Keys, now: Date): Session | undefined => {
  const session = open<Session>(sealed, { purpose: PURPOSE, keys });
  if (session === undefined || isOver(session, now)) return undefined;
  return now.getTime() < session.usedAt + SESSION_IDLE_MS_MAX ? session : undefined;
};

const PURPOSE = "prooftrail session, version 1";
const CSRF_BYTES = 18;
