/**
 * Who may make, see, change and revoke which key. The admin key manages every tenant. A key with `keys:manage` manages only its own tenant,
 * and never gives more than it has: scopes, lifetime or rate. A key of another tenant is answered as one that does not exist. A secret
 * leaves this module once, in the outcome of `create` or `rotate`. Each change of a key is in the log before it is made.
 */
import { Type } from "@sinclair/typebox";
import {
  KEY_GRACE_SECONDS_DEFAULT,
  KEY_UPDATE_TRIES_MAX,
  KEYS_PER_TENANT_MAX,
  REVOCATIONS_WAITING_MAX,
} from "../limits.ts";
import { createKeyedMutex, type TooManyWaiting } from "../runtime/keyed-mutex.ts";
import {
  type ActionKind,
  type ActionOf,
  type ActionRecorder,
  type ActionResult,
  type Actor,
  CHANGED_MEANWHILE,
  type ChangedMeanwhile,
} from "./action.ts";
import { hashSecret, makeApiKey, type RandomBytes } from "./api-key.ts";
import { authorize, type OtherTenant, type Principal, reaches } from "./authenticate.ts";
import { excessOver, grantedLimits } from "./grant.ts";
import { type ApiKeyRecord, isActive, KeyView, viewOf } from "./key-record.ts";
import { checkCreateKeyRequest, checkRotateKeyRequest, type KeyProblem, seatOf } from "./key-request.ts";
import type { FetchedKey, KeyStore } from "./key-store.ts";
import { byPlace } from "./list-order.ts";
import type { Scope } from "./scopes.ts";
import { SYSTEM_TENANT } from "./tenant.ts";

export type KeyRefusal =
  /** The principal lacks `keys:manage`, or a scope that the key would have. */
  | { readonly kind: "insufficient_scope"; readonly scope: Scope }
  | OtherTenant
  | { readonly kind: "invalid"; readonly problems: readonly KeyProblem[] }
  | { readonly kind: "not_found" }
  | ChangedMeanwhile
  | TooManyWaiting
  /** No answer: the change may or may not have been made. Repeating a creation makes another key. */
  | { readonly kind: "unavailable"; readonly detail: string };

/** `apiKey`: the whole key, to be shown once and not logged. */
interface NewKey {
  readonly key: KeyView;
  readonly apiKey: string;
}

type Created = NewKey & { readonly kind: "created" };
type Revoked = { readonly kind: "revoked"; readonly key: KeyView };
type Rotated = NewKey & { readonly kind: "rotated"; readonly previous: KeyView };

export interface Keys {
  /** `request` is a parsed body, see CreateKeyRequest. */
  create(options: { readonly by: Actor; readonly request: unknown }): Promise<Created | KeyRefusal>;
  /** All of them, oldest first, revoked ones included. */
  list(options: {
    readonly principal: Principal;
    readonly tenant?: string;
  }): { readonly kind: "listed"; readonly keys: readonly KeyView[] } | KeyRefusal;
  /** Revoking a revoked key changes nothing, writes nothing to the log and is answered the same. */
  revoke(options: { readonly by: Actor; readonly id: string }): Promise<Revoked | KeyRefusal>;
  /** Makes a successor with the same rights. `request` is a parsed body, see RotateKeyRequest. */
  rotate(options: {
    readonly by: Actor;
    readonly id: string;
    readonly request: unknown;
  }): Promise<Rotated | KeyRefusal>;
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
  const inTurn = createKeyedMutex();
  /** Changes of one key take turns in a front end. The tenant is part of the name, so that no tenant waits for another. */
  const nameOf = ({ by, id }: { readonly by: Actor; readonly id: string }): string =>
    `${by.principal.tenant} ${id}`;
  return {
    create: (options) => create(dependencies, options),
    list: (options) => list(dependencies.store, options),
    revoke: (options) =>
      inTurn(nameOf(options), () => revoke(dependencies, options), REVOCATIONS_WAITING_MAX),
    rotate: (options) => inTurn(nameOf(options), () => rotate(dependencies, options)),
  };
};

const create = async (
  dependencies: KeysDependencies,
  { by, request }: Parameters<Keys["create"]>[0],
): Promise<Created | KeyRefusal> => {
  const { principal } = by;
  const mayManage = authorize(principal, "keys:manage");
  if (mayManage.kind !== "ok") return mayManage;
  const checked = checkCreateKeyRequest(request);
  if (checked.kind === "invalid") return checked;
  const asked = checked.request;
  const asksFor = seatOf(asked);
  if (asksFor.kind === "invalid") return asksFor;
  const { scopes, seat } = asksFor;
  const tenant = asked.tenant ?? principal.tenant;
  const granted = grantedLimits(principal, asked, dependencies.now());
  if (granted.kind === "invalid") return granted;
  const excess = excessOver(principal, { tenant, scopes, ...granted.limits });
  if (excess) return excess;
  if (tenant === SYSTEM_TENANT && scopes.some((scope) => scope !== "events:read"))
    return invalid(
      seat.role ? "/role" : "/scopes",
      `Prooftrail alone writes to the tenant ${SYSTEM_TENANT}: ask for ${seat.role ? "the role auditor" : "events:read alone"}, or name another tenant.`,
    );
  if (dependencies.store.list(tenant).length >= KEYS_PER_TENANT_MAX)
    return invalid(
      "",
      `The tenant already has ${KEYS_PER_TENANT_MAX} keys, and no more are made: expired and revoked ones count, and none is ever removed. Rotate one that still works, or name another tenant.`,
      "too_many",
    );
  return issue(dependencies, by, {
    tenant,
    ...(asked.name !== undefined && { name: asked.name }),
    scopes,
    ...seat,
    ...granted.limits,
  });
};

const invalid = (
  path: string,
  message: string,
  code: KeyProblem["code"] = "invalid_value",
): Extract<KeyRefusal, { readonly kind: "invalid" }> => ({
  kind: "invalid",
  problems: [{ path, code, message }],
});

type Identity = "id" | "secret_hash" | "created_at" | "created_by";

/** Records and stores a new key, after everything that can be refused has been refused. */
export const issue = async (
  dependencies: KeysDependencies,
  by: Actor,
  rights: Omit<ApiKeyRecord, Identity>,
): Promise<Created | KeyRefusal> => {
  const { store, recorder } = dependencies;
  const { record, apiKey } = newKey(dependencies, by, rights);
  const write = await recorder.carryOut({
    by,
    action: {
      type: "system.key_created",
      tenant: record.tenant,
      details: { key_id: record.id, ...rightsOf(record) },
    },
    work: () => store.create(record),
  });
  if (write.kind === "conflict") return { kind: "unavailable", detail: "the id of the new key is taken" };
  return write.kind === "written" ? { kind: "created", key: viewOf(record), apiKey } : write;
};

const newKey = (
  { now, randomBytes, keyPrefix }: KeysDependencies,
  { principal }: Actor,
  rights: Omit<ApiKeyRecord, Identity>,
): { readonly record: ApiKeyRecord; readonly apiKey: string } => {
  const { id, secret, text } = makeApiKey(randomBytes, keyPrefix);
  const created_at = now().toISOString();
  const record = { ...rights, id, secret_hash: hashSecret(secret), created_at, created_by: principal.keyId };
  return { record, apiKey: text };
};

/** What the log gets about a key. */
const rightsOf = ({ scopes, role, covers, expires_at, rate_limit }: ApiKeyRecord) => ({
  scopes,
  ...(role && { role }),
  ...(covers && { covers }),
  ...(expires_at !== undefined && { expires_at }),
  ...(rate_limit && { rate_limit }),
});

const list = (
  store: KeyStore,
  { principal, tenant }: Parameters<Keys["list"]>[0],
): ReturnType<Keys["list"]> => {
  const mayManage = authorize(principal, "keys:manage");
  if (mayManage.kind !== "ok") return mayManage;
  if (tenant !== undefined && !reaches(principal, tenant))
    return { kind: "other_tenant", path: "query:tenant" };
  const keys = store.list(principal.isAdmin ? tenant : principal.tenant);
  return { kind: "listed", keys: keys.map(viewOf).sort(byPlace) };
};

/** Tries again while somebody else changes the key at the same time. */
const untilUnchanged = async <Answer extends { readonly kind: string }>(
  attempt: () => Promise<Answer | ChangedMeanwhile>,
): Promise<Answer | ChangedMeanwhile> => {
  for (let tries = 0; tries < KEY_UPDATE_TRIES_MAX; tries++) {
    const answer = await attempt();
    if (answer.kind !== "changed_meanwhile") return answer;
  }
  return CHANGED_MEANWHILE;
};

const revoke = async (
  { store, recorder, now }: KeysDependencies,
  { by, id }: Parameters<Keys["revoke"]>[0],
): Promise<Revoked | KeyRefusal> => {
  const { principal } = by;
  const mayManage = authorize(principal, "keys:manage");
  if (mayManage.kind !== "ok") return mayManage;
  return untilUnchanged<Revoked | KeyRefusal>(async () => {
    const found = await fetchFor(principal, id, store);
    if (found.kind !== "found") return found;
    if (found.record.revoked_at !== undefined) return { kind: "revoked", key: viewOf(found.record) };
    const record = { ...found.record, revoked_at: now().toISOString() };
    const write = await recorder.carryOut({
      by,
      action: { type: "system.key_revoked", tenant: record.tenant, details: { key_id: id } },
      work: () => store.update(record, found.revision),
    });
    return write.kind === "written" ? { kind: "revoked", key: viewOf(record) } : undone(write);
  });
};

const rotate = async (
  dependencies: KeysDependencies,
  { by, id, request }: Parameters<Keys["rotate"]>[0],
): Promise<Rotated | KeyRefusal> => {
  const mayManage = authorize(by.principal, "keys:manage");
  if (mayManage.kind !== "ok") return mayManage;
  const checked = checkRotateKeyRequest(request);
  if (checked.kind === "invalid") return checked;
  const { grace_seconds: graceSeconds = KEY_GRACE_SECONDS_DEFAULT } = checked.request;
  return untilUnchanged<Rotated | KeyRefusal>(() => rotateOnce(dependencies, { by, id, graceSeconds }));
};

const rotateOnce = async (
  dependencies: KeysDependencies,
  { by, id, graceSeconds }: { readonly by: Actor; readonly id: string; readonly graceSeconds: number },
): Promise<Rotated | KeyRefusal> => {
  const { store, recorder, now } = dependencies;
  const { principal } = by;
  const found = await fetchFor(principal, id, store);
  if (found.kind !== "found") return found;
  const { record: old, revision } = found;
  const time = now();
  if (!isActive(old, time))
    return invalid("", "Only a key that still works can be rotated: make a new one in its place.");
  // The caller gets the successor's secret, so a rotation grants as much as a creation. A key never exceeds its own rights: it may have been
  // rotated already, with the answer lost, and then it ends soon, but its successor must not.
  const excess = principal.keyId === id ? undefined : excessOver(principal, old);
  if (excess) return excess;

  const { replaced_by: _, grace_until: graceBefore, ...kept } = old;
  const { record: successor, apiKey } = newKey(dependencies, by, { ...kept, rotated_from: old.id });
  const graceAsked = new Date(time.getTime() + graceSeconds * 1000).toISOString();
  // Rotating again, after a lost answer, never extends the old key's life. All times are spelt alike, so they compare as text.
  const grace_until = graceBefore !== undefined && graceBefore < graceAsked ? graceBefore : graceAsked;
  const previous: ApiKeyRecord = { ...old, replaced_by: successor.id, grace_until };
  const write = await recorder.carryOut({
    by,
    action: {
      type: "system.key_rotated",
      tenant: old.tenant,
      details: { key_id: id, replaced_by: successor.id, ...rightsOf(old), grace_until },
    },
    work: () => replace(dependencies, { by, successor, previous, revision }),
  });
  return write.kind === "written"
    ? { kind: "rotated", key: viewOf(successor), apiKey, previous: viewOf(previous) }
    : undone(write);
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

/** A key of another tenant is answered as one that does not exist. */
const fetchFor = async (
  principal: Principal,
  id: string,
  store: KeyStore,
): Promise<Exclude<FetchedKey, { kind: "absent" }> | { readonly kind: "not_found" }> => {
  const fetched = await store.fetch(id);
  if (fetched.kind === "unavailable") return fetched;
  return fetched.kind === "found" && reaches(principal, fetched.record.tenant)
    ? fetched
    : { kind: "not_found" };
};

const undone = (
  write: Exclude<ActionResult, { readonly kind: "written" }>,
): Extract<KeyRefusal, { readonly kind: "unavailable" | "changed_meanwhile" }> =>
  write.kind === "unavailable" ? write : CHANGED_MEANWHILE;

const { id, scopes, role, covers, expires_at, rate_limit } = KeyView.properties;
/** Not the person: the log never forgets, and the list of keys says whose the key is. */
const rights = { scopes, role, covers, expires_at, rate_limit };

/** The events that the log gets about keys. */
export const KEY_ACTIONS = {
  "system.key_created": {
    summary: "A key was made.",
    details: Type.Object({ key_id: id, ...rights }),
  },
  "system.key_revoked": {
    summary: "A key was revoked.",
    details: Type.Object({ key_id: id }),
  },
  "system.key_rotated": {
    summary: "A key got a successor with the same rights, and works until `grace_until`.",
    details: Type.Object({
      key_id: id,
      replaced_by: id,
      ...rights,
      grace_until: Type.String({ description: "When the replaced key ends." }),
    }),
  },
} as const satisfies Readonly<Record<string, ActionKind>>;

export type KeyAction = ActionOf<typeof KEY_ACTIONS>;
