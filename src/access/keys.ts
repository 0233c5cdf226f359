/**
 * Creates, lists, revokes and rotates keys for whoever the route admits. The admin key manages every tenant, any other key only its own, and never gives
 * more than it has: scopes, lifetime or rate. A key of another tenant is answered as missing. A secret leaves this module once, in the
 * outcome of `create` or `rotate`. Each change of a key is logged before it is made.
 */
import { createRequestCheck } from "../event/request/check.ts";
import {
  KEY_GRACE_SECONDS_DEFAULT,
  KEY_UPDATE_TRIES_MAX,
  KEYS_PER_TENANT_MAX,
  REVOCATIONS_WAITING_MAX,
} from "../limits.ts";
import { createKeyedMutex } from "../runtime/keyed-mutex.ts";
import type { ActionRecorder, ActionResult, Actor } from "./action.ts";
import type { KeyAction } from "./administration/system-events.ts";
import { hashSecret, makeApiKey, type RandomBytes } from "./api-key.ts";
import { isActive, type Principal, reaches } from "./authenticate.ts";
import { excessOver, type Rights, requestedRights } from "./grant.ts";
import { type ApiKeyRecord, byPlace, type KeyView, RotateKeyRequest, viewOf } from "./key-record.ts";
import type { FetchedKey, KeyStore } from "./key-store.ts";
import { invalid, type RefusedChange, undone, untilUnchanged } from "./refusal.ts";
import { SYSTEM_TENANT } from "./tenant.ts";

/** `apiKey`: the whole key, to be shown once and not logged. */
interface NewKey {
  readonly key: KeyView;
  readonly apiKey: string;
}

type Created = NewKey & { readonly kind: "created" };
type Revoked = { readonly kind: "revoked"; readonly key: KeyView };
type Rotated = NewKey & { readonly kind: "rotated"; readonly previous: KeyView };

interface Chosen {
  readonly by: Actor;
  readonly id: string;
}

interface Requested {
  readonly by: Actor;
  readonly request: unknown;
}

export interface KeysDependencies {
  readonly store: KeyStore;
  readonly recorder: ActionRecorder<KeyAction>;
  readonly now: () => Date;
  readonly randomBytes: RandomBytes;
  readonly keyPrefix?: string;
}

export type Keys = ReturnType<typeof createKeys>;

export const createKeys = (dependencies: KeysDependencies) => {
  const inTurn = createKeyedMutex();
  /** Changes of one key take turns in a front end. The tenant is part of the name, so that no tenant waits for another. */
  const nameOf = ({ by, id }: Chosen): string => `${by.principal.tenant} ${id}`;
  return {
    /** See CreateKeyRequest. */
    create: (requested: Requested) => create(dependencies, requested),
    /** All of them, oldest first, revoked ones included. */
    list: (asked: { readonly principal: Principal; readonly tenant?: string }) =>
      list(dependencies.store, asked),
    /** Revoking a revoked key changes and logs nothing, and is answered the same. */
    revoke: (chosen: Chosen) =>
      inTurn(nameOf(chosen), () => revoke(dependencies, chosen), REVOCATIONS_WAITING_MAX),
    /** Creates a successor with the same rights. See RotateKeyRequest. */
    rotate: (chosen: Chosen & Requested) => inTurn(nameOf(chosen), () => rotate(dependencies, chosen)),
  };
};

const create = async (
  dependencies: KeysDependencies,
  { by, request }: Requested,
): Promise<Created | RefusedChange> => {
  const granted = requestedRights(by.principal, request, dependencies.now());
  if (granted.kind !== "ok") return granted;
  const { tenant, scopes, role } = granted.rights;
  if (tenant === SYSTEM_TENANT && scopes.some((scope) => scope !== "events:read"))
    return invalid(
      role ? "/role" : "/scopes",
      `Only Prooftrail writes to the tenant ${SYSTEM_TENANT}: ask for ${role ? "the role auditor" : "only events:read"}, or name another tenant.`,
    );
  if (dependencies.store.list(tenant).length >= KEYS_PER_TENANT_MAX)
    return invalid(
      "",
      `The tenant already has its maximum of ${KEYS_PER_TENANT_MAX} keys: expired and revoked ones count, and none is ever removed. Rotate one that still works, or name another tenant.`,
      "too_many",
    );
  return issue(dependencies, by, granted.rights);
};

/** Records and stores a new key, after everything that can be refused has been refused. */
export const issue = async (
  dependencies: KeysDependencies,
  by: Actor,
  rights: Rights,
): Promise<Created | RefusedChange> => {
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
  rights: Rights,
): { readonly record: ApiKeyRecord; readonly apiKey: string } => {
  const { id, secret, text } = makeApiKey(randomBytes, keyPrefix);
  const created_at = now().toISOString();
  const record = { ...rights, id, secret_hash: hashSecret(secret), created_at, created_by: principal.keyId };
  return { record, apiKey: text };
};

const rightsOf = ({ scopes, role, covers, expires_at, rate_limit }: ApiKeyRecord) => ({
  scopes,
  ...(role && { role }),
  ...(covers && { covers }),
  ...(expires_at !== undefined && { expires_at }),
  ...(rate_limit && { rate_limit }),
});

const list = (
  store: KeyStore,
  { principal, tenant }: { readonly principal: Principal; readonly tenant?: string },
) => {
  if (tenant !== undefined && !reaches(principal, tenant))
    return { kind: "other_tenant", path: "query:tenant" } as const;
  const keys = store.list(principal.isAdmin ? tenant : principal.tenant);
  return { kind: "listed", keys: keys.map(viewOf).sort(byPlace) } as const;
};

const revoke = async (
  { store, recorder, now }: KeysDependencies,
  { by, id }: Chosen,
): Promise<Revoked | RefusedChange> =>
  untilUnchanged<Revoked | RefusedChange>(KEY_UPDATE_TRIES_MAX, async () => {
    const found = await fetchFor(by.principal, id, store);
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

const checkRotateKeyRequest = createRequestCheck(RotateKeyRequest);

const rotate = async (
  dependencies: KeysDependencies,
  { by, id, request }: Chosen & Requested,
): Promise<Rotated | RefusedChange> => {
  const checked = checkRotateKeyRequest(request);
  if (checked.kind === "invalid") return checked;
  const { grace_seconds: graceSeconds = KEY_GRACE_SECONDS_DEFAULT } = checked.request;
  return untilUnchanged<Rotated | RefusedChange>(KEY_UPDATE_TRIES_MAX, () =>
    rotateOnce(dependencies, { by, id, graceSeconds }),
  );
};

const rotateOnce = async (
  dependencies: KeysDependencies,
  { by, id, graceSeconds }: Chosen & { readonly graceSeconds: number },
): Promise<Rotated | RefusedChange> => {
  const { store, recorder, now } = dependencies;
  const { principal } = by;
  const found = await fetchFor(principal, id, store);
  if (found.kind !== "found") return found;
  const { record: old, revision } = found;
  const time = now();
  if (!isActive(old, time))
    return invalid("", "Only a key that still works can be rotated: create a new one instead.");
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
    work: () => replace(dependencies, by, { successor, previous }, revision),
  });
  return write.kind === "written"
    ? { kind: "rotated", key: viewOf(successor), apiKey, previous: viewOf(previous) }
    : undone(write);
};

const replace = async (
  dependencies: KeysDependencies,
  by: Actor,
  { successor, previous }: { readonly successor: ApiKeyRecord; readonly previous: ApiKeyRecord },
  revision: number,
): Promise<ActionResult> => {
  const { store } = dependencies;
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
    detail: `the key ${successor.id}, whose secret nobody received, still works: revoke it`,
  };
};

/** A key of another tenant is answered as missing. */
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
