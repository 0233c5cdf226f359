/**
 * The session of a browser, sealed in a cookie (encrypted-text.ts).
 *
 * After signing in with an API key, the cookie holds it: a stolen cookie does not show it, and who reads the stored hash still lacks what is
 * sealed. After signing in with a provider, nobody knows the seat's key, so the client secret, if any, goes into the cipher's
 * key: who reads the stored hash lacks this secret.
 */
import { Buffer } from "node:buffer";
import { SESSION_IDLE_MS_MAX, SESSION_MS_MAX } from "../limits.ts";
import type { RandomBytes } from "./api-key.ts";
import { hashIn, open, seal } from "./encrypted-text.ts";
import type { KeyStore } from "./key-store.ts";

export interface Session {
  /** `admin` for the admin key. */
  readonly keyId: string;
  /** What the browser would have sent without a session. Absent after signing in with a provider. */
  readonly apiKey?: string;
  /** Sent with every write (X-CSRF-Token). A page of another origin cannot read it. */
  readonly csrfToken: string;
  readonly startedAt: number;
  readonly usedAt: number;
}

export interface SessionKeys extends Pick<KeyStore, "get" | "admin"> {
  /** The client secret at the provider, if there is one. */
  readonly signInSecret?: string | undefined;
}

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
export const sealSession = (
  session: Session,
  keys: SessionKeys,
  randomBytes: RandomBytes,
): string | undefined => seal(session, { ...kindOf(keys), randomBytes });

/** Undefined for what no front end sealed, and for a session that ended or idled too long. */
export const openSession = (sealed: string, keys: SessionKeys, now: Date): Session | undefined => {
  const session = open<Session>(sealed, kindOf(keys));
  if (session === undefined || isOver(session, now)) return undefined;
  // Whoever reads the stored hashes can seal with them alone.
  if (isOfProvider(session) && keys.signInSecret === undefined) return undefined;
  return now.getTime() < session.usedAt + SESSION_IDLE_MS_MAX ? session : undefined;
};

/** Whether it began at a sign-in provider: then nobody has the text of the API key, and the seat's id stands for it. */
export const isOfProvider = ({ apiKey }: Session): boolean => apiKey === undefined;

const kindOf = (keys: SessionKeys) =>
  ({
    purpose: "prooftrail session, version 2",
    secretOf: (keyId: string) => {
      const hash = hashIn(keys)(keyId);
      return hash && hash + (keys.signInSecret ?? "");
    },
  }) as const;

const CSRF_BYTES = 18;
