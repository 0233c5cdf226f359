/** Who is asking, and may they: from the `Authorization` header to a principal, and from there to a scope. */
import { hashSecret, parseApiKey, verifySecret } from "./api-key.ts";
import { ADMIN_KEY_ID, type AdminKeyRecord, type ApiKeyRecord, PROVIDER_ID } from "./key-record.ts";
import type { KeyStore } from "./key-store.ts";
import { type RateShares, rateSharesOf } from "./rate-limit.ts";
import type { InsufficientScope } from "./refusal.ts";
import { SCOPES, type Scope } from "./scopes.ts";
import type { Covers, Role } from "./seats.ts";
import { DEFAULT_TENANT, SYSTEM_TENANT } from "./tenant.ts";

export interface Principal {
  /** `admin` for the admin key. */
  readonly keyId: string;
  readonly tenant: string;
  readonly scopes: readonly Scope[];
  readonly isAdmin: boolean;
  readonly role?: Role;
  /** Set for an auditor's seat that does not cover the whole tenant. */
  readonly covers?: Covers;
  /** When it ends, if known: it expires, or was rotated and has a grace time. */
  readonly expiresAt?: string;
  readonly rateLimit?: NonNullable<ApiKeyRecord["rate_limit"]>;
  /** What its requests and events count against; absent if nothing limits it. */
  readonly rateShares?: RateShares;
}

export type Authentication =
  | { readonly kind: "principal"; readonly principal: Principal }
  /** Nothing that could be a key was sent. */
  | { readonly kind: "missing" }
  /** Something was sent without `Bearer` in front. Decided by the header's form alone. */
  | { readonly kind: "not_bearer" }
  /** More than one header was sent, and at least one begins with `Bearer`. Decided by their form alone. */
  | { readonly kind: "several" }
  /** One answer for every reason, so that nobody learns which keys exist. */
  | { readonly kind: "invalid" };

/** RFC 6750 §2.1 and RFC 9110 §11.4: the scheme in any case, then the key in visible ASCII. */
const IS_BEARER = /^bearer(?: |$)/i;
const BEARER = /^bearer(?: +([!-~]{1,256}))? *$/i;
/** Headers of one name arrive joined by a comma and a space (fetch.spec.whatwg.org, "get a header value"), and no key has a space. */
const SEVERAL = /^bearer .*, |, bearer(?: |$)/i;

/** Compared if there is no key, so that the check takes as long. No key is empty, so none has this hash. */
const NO_HASH = hashSecret("");

/** Uses memory only. Unknown, wrong, revoked and expired keys differ neither in the answer nor in the time it takes. */
export const authenticate = (options: {
  readonly authorization: string | null;
  readonly keys: Pick<KeyStore, "get" | "admin">;
  readonly now: Date;
}): Authentication => {
  const { authorization, keys, now } = options;
  if (authorization === null || authorization.trim() === "") return { kind: "missing" };
  if (SEVERAL.test(authorization)) return { kind: "several" };
  const bearer = BEARER.exec(authorization);
  if (!bearer) return { kind: IS_BEARER.test(authorization) ? "invalid" : "not_bearer" };
  const text = bearer[1];
  if (text === undefined) return { kind: "missing" };

  const isAdmin = verifySecret(text, keys.admin()?.secret_hash ?? NO_HASH);
  const parsed = parseApiKey(text);
  const record = parsed && keys.get(parsed.id);
  const isKey = verifySecret(parsed?.secret ?? text, record?.secret_hash ?? NO_HASH);

  if (isAdmin) return OF_ADMIN;
  if (!record || !isKey || !isActive(record, now)) return { kind: "invalid" };
  return { kind: "principal", principal: principalOf(record, keys.get) };
};

/**
 * `authenticate`, which remembers the last valid header, because the next request mostly has the same. It stays valid as long as the
 * store holds the same active record. Any other header is checked in full.
 */
export const createAuthenticator = (
  keys: Pick<KeyStore, "get" | "admin">,
): ((authorization: string | null, now: Date) => Authentication) => {
  const recordOf = (keyId: string): ApiKeyRecord | AdminKeyRecord | undefined =>
    keyId === ADMIN_KEY_ID ? keys.admin() : keys.get(keyId);
  let last = { authorization: "", found: OF_ADMIN, record: recordOf("") };
  return (authorization, now) => {
    if (authorization !== null && isSameText(authorization, last.authorization)) {
      const record = recordOf(last.found.principal.keyId);
      if (record !== undefined && record === last.record && (!("id" in record) || isActive(record, now)))
        return last.found;
    }
    const found = authenticate({ authorization, keys, now });
    if (authorization !== null && found.kind === "principal")
      last = { authorization, found, record: recordOf(found.principal.keyId) };
    return found;
  };
};

/** Takes time that depends only on the lengths, so that nobody can learn how much of another's key is right. */
const isSameText = (left: string, right: string): boolean => {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let index = 0; index < left.length; index++)
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  return difference === 0;
};

export type Authorization = { readonly kind: "ok" } | InsufficientScope;

export const authorize = (principal: Principal, scope: Scope): Authorization =>
  principal.scopes.includes(scope) ? OK : { kind: "insufficient_scope", scope };

export const OK: Authorization = { kind: "ok" };

/** The admin key reaches every tenant, any other key only its own. */
export const reaches = (principal: Principal, tenant: string): boolean =>
  principal.isAdmin || principal.tenant === tenant;

const ADMIN: Principal = { keyId: ADMIN_KEY_ID, tenant: DEFAULT_TENANT, scopes: SCOPES, isAdmin: true };
const OF_ADMIN: Extract<Authentication, { readonly kind: "principal" }> = {
  kind: "principal",
  principal: ADMIN,
};

const isForReading = (scope: Scope): boolean => scope === "events:read";

const principalOf = (record: ApiKeyRecord, get: KeyStore["get"]): Principal => {
  const expiresAt = earliest(record.expires_at, record.grace_until);
  return {
    keyId: record.id,
    tenant: record.tenant,
    // Also for keys from older versions: only Prooftrail writes to this tenant.
    scopes: record.tenant === SYSTEM_TENANT ? record.scopes.filter(isForReading) : record.scopes,
    isAdmin: false,
    ...(record.role && { role: record.role }),
    ...(record.covers && { covers: record.covers }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(record.rate_limit === undefined
      ? {}
      : { rateLimit: record.rate_limit, rateShares: rateSharesOf(record, get) }),
  };
};

/** For a request that names a key and proves otherwise that it may: what it shows is sealed (encrypted-text.ts), and may not have the key's text. */
export const authenticateById = (
  keyId: string,
  keys: Pick<KeyStore, "get" | "admin">,
  now: Date,
): Authentication => {
  if (keyId === ADMIN_KEY_ID && keys.admin()) return OF_ADMIN;
  const record = keys.get(keyId);
  return record && isActive(record, now)
    ? { kind: "principal", principal: principalOf(record, keys.get) }
    : { kind: "invalid" };
};

/** Whether the key of a principal still exists and is valid. A sign-in provider has none. */
export const isStillActive = (
  { keyId }: Principal,
  keys: Pick<KeyStore, "get" | "admin">,
  now: Date,
): boolean => keyId === PROVIDER_ID || authenticateById(keyId, keys, now).kind === "principal";

const earliest = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || (other !== undefined && other < one) ? other : one;

export const isActive = (record: ApiKeyRecord, now: Date): boolean => {
  const time = now.getTime();
  const hasEnded = (end: string | undefined): boolean => end !== undefined && Date.parse(end) <= time;
  return record.revoked_at === undefined && !hasEnded(record.expires_at) && !hasEnded(record.grace_until);
};
