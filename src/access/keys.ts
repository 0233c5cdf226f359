/**
 * Who may make, see, change and revoke which key. The admin key manages every tenant. A key with `keys:manage` manages only its own tenant,
 * and never gives more than it has: scopes, lifetime or rate. A key of another tenant is answered as one that does not exist. A secret
 * leaves this module once, in the outcome of `create` or `rotate`. Each change of a key is in the log before it is made.
 */
import {
  KEY_GRACE_SECONDS_DEFAULT,
  KEY_UPDATE_TRIES_MAX,
  KEYS_PER_TENANT_MAX,
  REVOCATIONS_WAITING_MAX,
} from "../limits.ts";
import { createTurnsAbout, type TooManyWaiting } from "../runtime/turns-about.ts";
import {
  type ActionRecorder,
  type ActionResult,
  type Actor,
  type ActorEnded,
  CHANGED_MEANWHILE,
  type ChangedMeanwhile,
  unlessEnded,
} from "./action.ts";
import { hashSecret, type MadeApiKey, makeApiKey, type RandomBytes } from "./api-key.ts";
import { authorize, type OtherTenant, type Principal, reaches } from "./authenticate.ts";
import { depthOver, excessOver, expiryOf, grantedLimits, type Limits } from "./grant.ts";
import type { KeyAction } from "./key-actions.ts";
import { type ApiKeyRecord, isActive, type KeyView, viewOf } from "./key-record.ts";
import { checkCreateKeyRequest, checkRotateKeyRequest, type KeyProblem, seatOf } from "./key-request.ts";
import type { FetchedKey, KeyStore } from "./key-store.ts";
import { byPlace } from "./place.ts";
import type { Scope } from "./scopes.ts";
import type { Seat } from "./seats.ts";
import { SYSTEM_TENANT } from "./tenant.ts";

export type KeyRefusal =
  /** The principal lacks `keys:manage`, or a scope that the key would have. */
  | { readonly kind: "insufficient_scope"; readonly scope: Scope }
  | OtherTenant
  | { readonly kind: "invalid"; readonly problems: readonly KeyProblem[] };

/** The store or the log gave no answer. The change may or may not have been made; repeating a creation makes another key. */
export interface KeysUnavailable {
  readonly kind: "unavailable";
  readonly detail: string;
}

/** The change is not known to have been made. */
export type KeysUndone = KeysUnavailable | ChangedMeanwhile | TooManyWaiting | ActorEnded;

export interface KeyNotFound {
  readonly kind: "not_found";
}

export interface CreatedKey {
  readonly kind: "created";
  readonly key: KeyView;
  /** The whole key. To be shown once and not logged. */
  readonly apiKey: string;
}

interface RotatedKey {
  readonly kind: "rotated";
  readonly key: KeyView;
  readonly apiKey: string;
  readonly previous: KeyView;
}

export interface Keys {
  /** `request` is a parsed body, see CreateKeyRequest. */
  create(options: {
    readonly by: Actor;
    readonly request: unknown;
  }): Promise<CreatedKey | KeyRefusal | KeysUnavailable>;
  /** All of them, oldest first, revoked ones included. */
  list(options: {
    readonly principal: Principal;
    readonly tenant?: string;
  }): { readonly kind: "listed"; readonly keys: readonly KeyView[] } | KeyRefusal;
  /** Revoking a revoked key changes nothing, writes nothing to the log and is answered the same. */
  revoke(options: {
    readonly by: Actor;
    readonly id: string;
  }): Promise<{ readonly kind: "revoked"; readonly key: KeyView } | KeyNotFound | KeyRefusal | KeysUndone>;
  /** Makes a successor with the same rights. `request` is a parsed body, see RotateKeyRequest. */
  rotate(options: {
    readonly by: Actor;
    readonly id: string;
    readonly request: unknown;
  }): Promise<RotatedKey | KeyNotFound | KeyRefusal | KeysUndone>;
}

export interface KeysDependencies {
  readonly store: KeyStore;
  readonly recorder: ActionRecorder<KeyAction>;
  readonly now: () => Date;
  readonly randomBytes: RandomBytes;
  /** What new keys begin with. */
  readonly keyPrefix?: string;
}

export const createKeys = (dependencies: KeysDependencies): Keys => {
  const turns = createTurnsAbout();
  /**
   * Changes of one key by one tenant's keys take turns in a front end. The tenant is part of the name, so that no tenant waits for another.
   */
  const turnName = ({ by, id }: { readonly by: Actor; readonly id: string }): string =>
    `${by.principal.tenant} ${id}`;
  return {
    create: (options) => create(dependencies, options),
    list: (options) => list(dependencies.store, options),
    revoke: (options) => {
      const work = unlessEnded(options.by, () => revoke(dependencies, options));
      return turns(turnName(options), work, REVOCATIONS_WAITING_MAX);
    },
    rotate: (options) =>
      turns(
        turnName(options),
        unlessEnded(options.by, () => rotate(dependencies, options)),
      ),
  };
};

const create = async (
  { store, recorder, now, randomBytes, keyPrefix }: KeysDependencies,
  { by, request }: Parameters<Keys["create"]>[0],
): ReturnType<Keys["create"]> => {
  const { principal } = by;
  const mayManage = authorize(principal, "keys:manage");
  if (mayManage.kind !== "ok") return mayManage;
  const checked = checkCreateKeyRequest(request);
  if (checked.kind === "invalid") return checked;

  const asked = checked.request;
  const asksFor = seatOf(asked);
  if (asksFor.kind === "invalid") return asksFor;
  const { scopes, seat } = asksFor;
  const time = now();
  const tenant = asked.tenant ?? principal.tenant;
  const expiry = expiryOf(asked.expires_at, time);
  if (expiry.kind === "invalid") return expiry;
  const limits = grantedLimits(principal, { expiresAt: expiry.expiresAt, rateLimit: asked.rate_limit });
  const excess = excessOver(principal, { tenant, scopes, ...limits }) ?? depthOver(principal, limits);
  if (excess) return excess;
  if (tenant === SYSTEM_TENANT && scopes.some((scope) => scope !== "events:read")) return readOnly(seat);
  if (store.list(tenant).length >= KEYS_PER_TENANT_MAX) {
    const message = `The tenant already has ${KEYS_PER_TENANT_MAX} keys, and no more are made: expired and revoked ones count, and none is ever removed. Rotate one that still works, or name another tenant.`;
    return { kind: "invalid", problems: [{ path: "", code: "too_many", message }] };
  }

  const made = makeApiKey(randomBytes, keyPrefix);
  const record: ApiKeyRecord = {
    id: made.id,
    tenant,
    ...(asked.name === undefined ? {} : { name: asked.name }),
    scopes,
    ...seat,
    secret_hash: hashSecret(made.secret),
    created_at: time.toISOString(),
    created_by: principal.keyId,
    ...storedLimits(limits),
  };
  const write = await recorder.carryOut({
    by,
    action: {
      type: "system.key_created",
      tenant,
      details: { key_id: made.id, ...rightsOf(record) },
    },
    work: () => store.create(record),
  });
  if (write.kind === "conflict") return { kind: "unavailable", detail: "the id of the new key is taken" };
  if (write.kind !== "written") return write;
  return { kind: "created", key: viewOf(record), apiKey: made.text };
};

const list = (
  store: KeyStore,
  { principal, tenant }: Parameters<Keys["list"]>[0],
): ReturnType<Keys["list"]> => {
  const mayManage = authorize(principal, "keys:manage");
  if (mayManage.kind !== "ok") return mayManage;
  if (tenant !== undefined && !reaches(principal, tenant))
    return { kind: "other_tenant", path: "query:tenant" };
  const keys = store
    .list(principal.isAdmin ? tenant : principal.tenant)
    .map(viewOf)
    .sort(byPlace);
  return { kind: "listed", keys };
};

const revoke = async (
  { store, recorder, now }: KeysDependencies,
  { by, id }: Parameters<Keys["revoke"]>[0],
): ReturnType<Keys["revoke"]> => {
  const { principal } = by;
  const mayManage = authorize(principal, "keys:manage");
  if (mayManage.kind !== "ok") return mayManage;
  for (let tries = 0; tries < KEY_UPDATE_TRIES_MAX; tries++) {
    const found = await fetchFor(principal, id, store);
    if (found.kind !== "found") return found;
    if (found.record.revoked_at !== undefined) return { kind: "revoked", key: viewOf(found.record) };
    const record = { ...found.record, revoked_at: now().toISOString() };
    const { tenant } = record;
    const write = await recorder.carryOut({
      by,
      action: { type: "system.key_revoked", tenant, details: { key_id: id } },
      work: () => store.update(record, found.revision),
    });
    if (write.kind === "written") return { kind: "revoked", key: viewOf(record) };
    if (write.kind === "unavailable") return write;
  }
  return CHANGED_MEANWHILE;
};

const rotate = async (
  dependencies: KeysDependencies,
  { by, id, request }: Parameters<Keys["rotate"]>[0],
): ReturnType<Keys["rotate"]> => {
  const mayManage = authorize(by.principal, "keys:manage");
  if (mayManage.kind !== "ok") return mayManage;
  const checked = checkRotateKeyRequest(request);
  if (checked.kind === "invalid") return checked;
  const { grace_seconds: graceSeconds = KEY_GRACE_SECONDS_DEFAULT } = checked.request;
  for (let tries = 0; tries < KEY_UPDATE_TRIES_MAX; tries++) {
    const answer = await rotateOnce(dependencies, { by, id, graceSeconds });
    if (answer.kind !== "changed_meanwhile") return answer;
  }
  return CHANGED_MEANWHILE;
};

const rotateOnce = async (
  dependencies: KeysDependencies,
  { by, id, graceSeconds }: { readonly by: Actor; readonly id: string; readonly graceSeconds: number },
): ReturnType<Keys["rotate"]> => {
  const { store, recorder, now, randomBytes, keyPrefix } = dependencies;
  const { principal } = by;
  const found = await fetchFor(principal, id, store);
  if (found.kind !== "found") return found;

  const old = found.record;
  const time = now();
  if (!isActive(old, time)) {
    const message = "Only a key that still works can be rotated: make a new one in its place.";
    return { kind: "invalid", problems: [{ path: "", code: "invalid_value", message }] };
  }
  // The caller gets the successor's secret, so a rotation grants as much as a creation.
  const { tenant, scopes, expires_at: expiresAt, rate_limit: rateLimit } = old;
  // A key never exceeds its own rights. It may have been rotated already, with the answer lost: then it ends soon, but its successor must
  // not.
  const excess =
    principal.keyId === id ? undefined : excessOver(principal, { tenant, scopes, expiresAt, rateLimit });
  if (excess) return excess;

  const made = makeApiKey(randomBytes, keyPrefix);
  const { successor, previous, graceUntil } = succession(old, {
    made,
    time,
    graceSeconds,
    by: principal.keyId,
  });
  const write = await recorder.carryOut({
    by,
    action: {
      type: "system.key_rotated",
      tenant,
      details: {
        key_id: id,
        replaced_by: made.id,
        ...rightsOf(old),
        grace_until: graceUntil,
      },
    },
    work: () => replace(dependencies, { by, successor, previous, revision: found.revision }),
  });
  if (write.kind !== "written") return undone(write);
  return { kind: "rotated", key: viewOf(successor), apiKey: made.text, previous: viewOf(previous) };
};

/** The successor, and the old key with its grace time. */
const succession = (
  old: ApiKeyRecord,
  parts: {
    readonly made: MadeApiKey;
    readonly time: Date;
    readonly graceSeconds: number;
    /** Id of the key that asks for it. */
    readonly by: string;
  },
) => {
  const { made, time, graceSeconds, by } = parts;
  const { replaced_by: _, grace_until: graceBefore, ...kept } = old;
  const successor: ApiKeyRecord = {
    ...kept,
    id: made.id,
    secret_hash: hashSecret(made.secret),
    created_at: time.toISOString(),
    created_by: by,
    rotated_from: old.id,
  };
  const graceAsked = new Date(time.getTime() + graceSeconds * 1000).toISOString();
  // Rotating again, after a lost answer, never extends the old key's life. All times are spelt alike, so they compare as text.
  const graceUntil = graceBefore !== undefined && graceBefore < graceAsked ? graceBefore : graceAsked;
  const previous: ApiKeyRecord = { ...old, replaced_by: made.id, grace_until: graceUntil };
  return { successor, previous, graceUntil };
};

const replace = async (
  dependencies: KeysDependencies,
  parts: {
    readonly by: Actor;
    readonly successor: ApiKeyRecord;
    readonly previous: ApiKeyRecord;
    /** Revision of the replaced key, as it was read. */
    readonly revision: number;
  },
): Promise<ActionResult> => {
  const { store } = dependencies;
  const { by, successor, previous, revision } = parts;
  // The successor first: if the process dies between the two writes, the customer still has a working key.
  const created = await store.create(successor);
  if (created.kind !== "written") return created;
  const replaced = await store.update(previous, revision);
  if (replaced.kind === "written") return replaced;
  // Somebody else revoked or rotated the key meanwhile. Nobody got the successor's secret; it is revoked all the same.
  const ended = await revoke(dependencies, { by, id: successor.id });
  if (ended.kind === "revoked" || replaced.kind === "unavailable") return replaced;
  // Not retried: each try would leave another such key.
  return {
    kind: "unavailable",
    detail: `the key ${successor.id}, whose secret nobody was given, still works: revoke it`,
  };
};

/** The members as they are stored, without undefined ones. */
const storedLimits = ({ expiresAt, rateLimit }: Limits) => ({
  ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
  ...(rateLimit === undefined ? {} : { rate_limit: rateLimit }),
});

/** What the log gets about a key, without undefined members. */
const rightsOf = ({ scopes, role, covers, expires_at, rate_limit }: ApiKeyRecord) => ({
  scopes,
  ...(role && { role }),
  ...(covers && { covers }),
  ...storedLimits({ expiresAt: expires_at, rateLimit: rate_limit }),
});

const readOnly = ({ role }: Seat): KeyRefusal => ({
  kind: "invalid",
  problems: [
    {
      path: role ? "/role" : "/scopes",
      code: "invalid_value",
      message: `Prooftrail alone writes to the tenant ${SYSTEM_TENANT}: ask for ${role ? "the role auditor" : "events:read alone"}, or name another tenant.`,
    },
  ],
});

/** A key of another tenant is answered as one that does not exist. */
const fetchFor = async (
  principal: Principal,
  id: string,
  store: KeyStore,
): Promise<Extract<FetchedKey, { kind: "found" | "unavailable" }> | KeyNotFound> => {
  const fetched = await store.fetch(id);
  if (fetched.kind === "unavailable") return fetched;
  if (fetched.kind === "absent") return { kind: "not_found" };
  return reaches(principal, fetched.record.tenant) ? fetched : { kind: "not_found" };
};

const undone = (write: Exclude<ActionResult, { readonly kind: "written" }>): KeysUndone =>
  write.kind === "unavailable" ? write : CHANGED_MEANWHILE;
