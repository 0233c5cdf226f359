import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { someRecord, testKeyStore } from "../../test/access/key-store-suite.ts";
import { createMemoryKeyStore } from "../../test/access/memory-key-store.ts";
import { actor, createMemoryRecorder } from "../../test/support/recorder.ts";
import { KEY_GRACE_SECONDS_MAX, KEYS_PER_TENANT_MAX } from "../limits.ts";
import { authenticate, type Principal } from "./authenticate.ts";
import { createKeys } from "./keys.ts";
import { SCOPES, type Scope } from "./scopes.ts";
import { ROLE_SCOPES, ROLES } from "./seats.ts";

testKeyStore("memory store", async () => ({
  store: createMemoryKeyStore(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}));

const START = "2026-11-20T12:00:00.000Z";
const admin: Principal = { keyId: "admin", tenant: "default", scopes: SCOPES, isAdmin: true };
const manager = (scopes: readonly Scope[], changes: Partial<Principal> = {}): Principal => ({
  keyId: "managerkey00",
  tenant: "acme",
  scopes: ["keys:manage", ...scopes],
  isAdmin: false,
  ...changes,
});

const setUp = () => {
  const store = createMemoryKeyStore();
  let time = new Date(START);
  const recorder = createMemoryRecorder();
  const keys = createKeys({ store, recorder, now: () => time, randomBytes });
  return {
    store,
    recorder,
    keys,
    passSeconds: (seconds: number) => {
      time = new Date(time.getTime() + seconds * 1000);
    },
    accepts: (apiKey: string) =>
      authenticate({ authorization: `Bearer ${apiKey}`, keys: store, now: time }).kind === "principal",
    principalOf: (apiKey: string): Principal => {
      const found = authenticate({ authorization: `Bearer ${apiKey}`, keys: store, now: time });
      if (found.kind !== "principal") throw new Error(found.kind);
      return found.principal;
    },
    rotate: (id: string, request: object = {}) => keys.rotate({ by: actor(admin), id, request }),
    revoke: (id: string) => keys.revoke({ by: actor(admin), id }),
    createKey: async (request: object = { tenant: "acme", scopes: ["events:write"] }) => {
      const created = await keys.create({ by: actor(admin), request });
      if (created.kind !== "created") throw new Error(JSON.stringify(created));
      return created;
    },
  };
};

/** It does not take turns with our requests. */
const anotherFrontEnd = (store: ReturnType<typeof createMemoryKeyStore>) =>
  createKeys({ store, recorder: createMemoryRecorder(), now: () => new Date(START), randomBytes });

const problem = (path: string, code: string) => ({
  kind: "invalid",
  problems: [expect.objectContaining({ path, code })],
});

describe("creating a key", () => {
  test("returns the key once, and a view of everything except its hash", async () => {
    const { keys, store, accepts } = setUp();
    const request = {
      tenant: "acme",
      scopes: ["events:write", "events:read"],
      name: "Checkout, Zürich",
      expires_at: "2027-01-01T00:00:00+00:00",
      rate_limit: { requests_per_second: 10, events_per_second: 1000 },
    };
    const created = await keys.create({ by: actor(admin), request });
    if (created.kind !== "created") throw new Error(JSON.stringify(created));
    const { id } = created.key;
    expect(created.key).toEqual({
      id,
      ...request,
      scopes: ["events:write", "events:read"],
      expires_at: "2027-01-01T00:00:00.000Z",
      created_at: START,
      created_by: "admin",
    });
    expect(created.apiKey).toStartWith(`ptk_${id}_`);
    expect(accepts(created.apiKey)).toBe(true);
    const secret = created.apiKey.split("_")[2] ?? "";
    expect(JSON.stringify(store.get(id))).not.toContain(secret);
    expect(JSON.stringify(keys.list({ principal: admin }))).not.toContain("hash");
  });

  test("of a role has the scopes of the role, keeps them when it is rotated, and tells the log what it covers", async () => {
    const { keys, createKey, principalOf, recorder } = setUp();
    for (const role of ROLES) {
      const { key } = await createKey({ tenant: "acme", role });
      expect(key).toMatchObject({ role, scopes: ROLE_SCOPES[role] });
    }
    const covers = { asset_ids: ["credit_model"], from: "2026-07-01T00:00:00Z" };
    const seat = { role: "auditor", person: "j.kim@audit.example", covers };
    const { key } = await createKey({ tenant: "acme", ...seat });
    const stored = { ...seat, covers: { ...covers, from: "2026-07-01T00:00:00.000Z" } };
    expect(key).toMatchObject(stored);
    const rotated = await keys.rotate({ by: actor(admin), id: key.id, request: {} });
    if (rotated.kind !== "rotated") throw new Error(rotated.kind);
    expect(rotated.key).toMatchObject(stored);
    expect(principalOf(rotated.apiKey)).toMatchObject({ role: "auditor", covers: stored.covers });
    const told = recorder.recorded.slice(-2).map(({ action }) => action.details);
    for (const details of told) expect(details).toMatchObject({ role: "auditor", covers: stored.covers });
    expect(JSON.stringify(told)).not.toContain("j.kim");
  });

  test("of a role is refused with what to send instead", async () => {
    const { keys } = setUp();
    const auditor = (covers: object) => ({ role: "auditor", covers });
    for (const [request, path, says] of [
      [{ scopes: ["events:read"], role: "auditor" }, "/scopes", "omit scopes to create a seat"],
      [{}, "/scopes", "or send role instead, one of admin, officer, auditor, developer"],
      [{ role: "auditr" }, "/role", "did you mean auditor? Send one of admin, officer, auditor, developer"],
      [{ role: "officer", covers: { asset_ids: ["a"] } }, "/covers", "send the role auditor"],
      [{ scopes: ["events:read"], covers: { asset_ids: ["a"] } }, "/covers", "omit covers"],
      [auditor({}), "/covers", "send asset_ids, from or to"],
      [auditor({ asset_ids: [] }), "/covers/asset_ids", "1 to 16 different entries"],
      [auditor({ asset_ids: ["\ud800"] }), "/covers/asset_ids", "whole Unicode characters"],
      [auditor({ from: "2026-02-30T00:00:00Z" }), "/covers/from", "is not an existing day"],
      [auditor({ from: "yesterday" }), "/covers/from", "RFC 3339"],
      [
        auditor({ from: "2026-08-01T00:00:00Z", to: "2026-08-01T00:00:00Z" }),
        "/covers/from",
        "not before covers/to",
      ],
      [{ role: "auditor", person: "a\nb" }, "/person", "without control characters"],
      [{ role: "officer", tenant: "prooftrail-system" }, "/role", "ask for the role auditor"],
    ] as const) {
      const answer = await keys.create({ by: actor(admin), request });
      expect([request, answer]).toEqual([
        request,
        {
          kind: "invalid",
          problems: [expect.objectContaining({ path, message: expect.stringContaining(says) })],
        },
      ]);
    }
  });

  test("never grants a scope that the managing key does not have, itself or by a role", async () => {
    const { keys } = setUp();
    const subsets: Scope[][] = [[], ["events:write"], ["events:read"], ["events:write", "events:read"]];
    for (const own of subsets) {
      const by = actor(manager(own));
      const lacks = (scopes: readonly Scope[]) =>
        scopes.find((scope) => scope !== "keys:manage" && !own.includes(scope));
      for (const [request, scopes] of [
        ...SCOPES.map((scope) => [{ scopes: [scope] }, [scope]] as const),
        ...ROLES.map((role) => [{ role }, ROLE_SCOPES[role]] as const),
      ]) {
        const scope = lacks(scopes);
        const expected = scope ? { kind: "insufficient_scope", scope } : { kind: "created" };
        expect([request, await keys.create({ by, request })]).toMatchObject([request, expected]);
      }
    }
  });

  test("never grants another tenant, a longer life or a higher rate than the managing key has", async () => {
    const { keys } = setUp();
    const principal = manager(["events:read"], {
      expiresAt: "2026-12-01T00:00:00.000Z",
      rateLimit: { requests_per_second: 10 },
    });
    const ask = (more: object) =>
      keys.create({ by: actor(principal), request: { scopes: ["events:read"], ...more } });
    expect(await ask({ expires_at: "2026-12-01T00:00:00Z" })).toMatchObject({ key: { tenant: "acme" } });
    expect(await ask({ tenant: "other" })).toEqual({ kind: "other_tenant", path: "/tenant" });
    expect(await ask({ expires_at: "2026-12-01T00:00:00.001Z" })).toMatchObject(
      problem("/expires_at", "exceeds_own"),
    );
    expect(await ask({ rate_limit: { requests_per_second: 11 } })).toMatchObject(
      problem("/rate_limit/requests_per_second", "exceeds_own"),
    );
    expect(
      await ask({ expires_at: "2026-12-01T00:00:00Z", rate_limit: { requests_per_second: 10 } }),
    ).toMatchObject({ kind: "created" });
    // A bound that is left out is not unlimited: the managing key's bound applies, beside the requested ones.
    expect(await ask({ rate_limit: { events_per_second: 5 } })).toMatchObject({
      key: { expires_at: principal.expiresAt, rate_limit: { requests_per_second: 10, events_per_second: 5 } },
    });
  });

  test("is refused if the tenant has the maximum number of keys that every front end can hold", async () => {
    const { keys, store, createKey } = setUp();
    for (let made = 0; made < KEYS_PER_TENANT_MAX; made++) await store.create(someRecord({ tenant: "acme" }));
    const request = { tenant: "acme", scopes: ["events:read"] };
    const message = expect.stringContaining("Rotate one that still works, or name another tenant.");
    expect(await keys.create({ by: actor(admin), request })).toMatchObject({
      kind: "invalid",
      problems: [{ path: "", code: "too_many", message }],
    });
    await createKey({ tenant: "other", scopes: ["events:read"] });
  });
});

describe("revoking a key", () => {
  test("ends it at once, and a repeated request gets the same answer", async () => {
    const { createKey, accepts, passSeconds, revoke } = setUp();
    const { key, apiKey } = await createKey();
    const first = await revoke(key.id);
    expect(first).toEqual({ kind: "revoked", key: { ...key, revoked_at: START } });
    expect(accepts(apiKey)).toBe(false);
    passSeconds(60);
    expect(await revoke(key.id)).toEqual(first);
  });

  test("answers for another tenant's key as for a missing key, and does not change it", async () => {
    const { keys, createKey, accepts } = setUp();
    const { key, apiKey } = await createKey({ tenant: "other", scopes: ["events:write"] });
    const principal = manager(["events:write"]);
    for (const id of [key.id, "0123456789AB", "admin", "", "no id at all"]) {
      expect(await keys.revoke({ by: actor(principal), id })).toEqual({ kind: "not_found" });
      expect(await keys.rotate({ by: actor(principal), id, request: {} })).toEqual({ kind: "not_found" });
    }
    expect(accepts(apiKey)).toBe(true);
  });

  test("succeeds even if somebody else changes the key at the same moment", async () => {
    const { keys, store, createKey, accepts, recorder } = setUp();
    const { key, apiKey } = await createKey();
    store.beforeNextUpdate(async () => {
      const found = await store.fetch(key.id);
      if (found.kind === "found") await store.update({ ...found.record, name: "renamed" }, found.revision);
    });
    // Nothing is granted, so none of the key's own scopes is needed.
    expect(await keys.revoke({ by: actor(manager([])), id: key.id })).toMatchObject({
      key: { name: "renamed" },
    });
    expect(accepts(apiKey)).toBe(false);
    expect(recorder.recorded.slice(1).map(({ result }) => result)).toEqual(["conflict", "written"]);
  });
});

describe("rotating a key", () => {
  const rotated = async (outcome: ReturnType<ReturnType<typeof setUp>["keys"]["rotate"]>) => {
    const value = await outcome;
    if (value.kind !== "rotated") throw new Error(JSON.stringify(value));
    return value;
  };

  test("gives a successor with the same rights, and the old key works for another day", async () => {
    const { createKey, accepts, passSeconds, rotate } = setUp();
    const old = await createKey({
      tenant: "acme",
      name: "checkout",
      scopes: ["events:write"],
      expires_at: "2027-01-01T00:00:00Z",
      rate_limit: { events_per_second: 5 },
    });
    const { key, previous, apiKey } = await rotated(rotate(old.key.id));
    expect(key).toEqual({ ...old.key, id: key.id });
    expect(key.id).not.toBe(old.key.id);
    expect(previous).toEqual({ ...old.key, replaced_by: key.id, grace_until: "2026-11-21T12:00:00.000Z" });
    passSeconds(24 * 60 * 60 - 1);
    expect([accepts(old.apiKey), accepts(apiKey)]).toEqual([true, true]);
    passSeconds(1);
    expect([accepts(old.apiKey), accepts(apiKey)]).toEqual([false, true]);
  });

  test("accepts a grace period from zero to one week", async () => {
    const { createKey, accepts, rotate } = setUp();
    const old = await createKey();
    const within = (grace_seconds: unknown) => rotate(old.key.id, { grace_seconds });
    for (const seconds of [-1, KEY_GRACE_SECONDS_MAX + 1]) {
      expect(await within(seconds)).toMatchObject(problem("/grace_seconds", "invalid_value"));
    }
    for (const seconds of [1.5, "60", null]) {
      expect(await within(seconds)).toMatchObject(problem("/grace_seconds", "invalid_type"));
    }
    await rotated(within(KEY_GRACE_SECONDS_MAX));
    expect(accepts(old.apiKey)).toBe(true);
    await rotated(within(0));
    expect(accepts(old.apiKey)).toBe(false);
  });

  test("gives the old key an end, and a key that it makes before then ends with it", async () => {
    const { keys, createKey, principalOf, rotate } = setUp();
    const scopes = ["keys:manage", "events:write"];
    const old = await createKey({ tenant: "acme", scopes });
    const other = await createKey({ tenant: "acme", scopes });
    await rotated(rotate(old.key.id, { grace_seconds: 60 }));
    const by = actor(principalOf(old.apiKey));
    const create = (request: object) => keys.create({ by, request: { scopes, ...request } });
    const end = "2026-11-20T12:01:00.000Z";
    expect(await create({})).toMatchObject({ kind: "created", key: { expires_at: end } });
    expect(await create({ expires_at: end })).toMatchObject({ kind: "created", key: { expires_at: end } });
    expect(await create({ expires_at: "2026-11-20T12:01:00.001Z" })).toMatchObject(
      problem("/expires_at", "exceeds_own"),
    );
    expect(await keys.rotate({ by, id: other.key.id, request: {} })).toMatchObject(
      problem("/expires_at", "exceeds_own"),
    );
  });

  test("with the key itself can be repeated after a lost answer, and the successor has no end", async () => {
    const { keys, createKey, principalOf, passSeconds } = setUp();
    const expires_at = "2027-01-01T00:00:00.000Z";
    for (const ends of [{}, { expires_at }]) {
      const old = await createKey({ tenant: "acme", scopes: ["keys:manage"], ...ends });
      const rotate = () =>
        keys.rotate({ by: actor(principalOf(old.apiKey)), id: old.key.id, request: { grace_seconds: 60 } });
      const first = await rotated(rotate());
      passSeconds(30);
      const second = await rotated(rotate());
      expect(second.key.expires_at).toBe(old.key.expires_at);
      expect(second.key.grace_until).toBeUndefined();
      expect(second.previous.grace_until).toBe(first.previous.grace_until);
    }
  });

  test("is refused if the key no longer works", async () => {
    const { createKey, passSeconds, rotate, revoke } = setUp();
    const revoked = await createKey();
    const replaced = await createKey();
    const expiring = await createKey({ scopes: ["events:read"], expires_at: "2026-11-20T12:01:00Z" });
    await revoke(revoked.key.id);
    await rotated(rotate(replaced.key.id, { grace_seconds: 60 }));
    passSeconds(60);
    for (const { key } of [revoked, replaced, expiring]) {
      const refused = await rotate(key.id);
      expect(refused).toMatchObject({
        kind: "invalid",
        problems: [{ path: "", code: "invalid_value", message: expect.stringContaining("create a new one") }],
      });
    }
  });

  test("does not give a stronger key to a weaker one", async () => {
    const { keys, createKey } = setUp();
    const writer = await createKey();
    const rotateAs = (principal: Principal, id: string) =>
      keys.rotate({ by: actor(principal), id, request: {} });
    expect(await rotateAs(manager([]), writer.key.id)).toEqual({
      kind: "insufficient_scope",
      scope: "events:write",
    });
    const mortal = manager(["events:write"], { expiresAt: "2026-12-01T00:00:00.000Z" });
    expect(await rotateAs(mortal, writer.key.id)).toMatchObject(problem("/expires_at", "exceeds_own"));
    const slow = manager(["events:write"], { rateLimit: { events_per_second: 1 } });
    expect(await rotateAs(slow, writer.key.id)).toMatchObject(
      problem("/rate_limit/events_per_second", "exceeds_own"),
    );
    expect((await rotateAs(manager(["events:write"]), writer.key.id)).kind).toBe("rotated");
  });

  test("leaves no working successor if the old key is revoked at the same moment", async () => {
    const { store, createKey, rotate } = setUp();
    const { key } = await createKey();
    const other = anotherFrontEnd(store);
    store.beforeNextUpdate(() => other.revoke({ by: actor(admin), id: key.id }));
    expect(await rotate(key.id)).toMatchObject(problem("", "invalid_value"));
    expect(store.list().map(({ revoked_at }) => revoked_at)).toEqual([START, START]);
  });

  test("is retried if another front end changes the key at the same time, and the shorter grace period applies", async () => {
    const { store, createKey, accepts, rotate } = setUp();
    const { key } = await createKey();
    const other = anotherFrontEnd(store);
    store.beforeNextUpdate(() =>
      other.rotate({ by: actor(admin), id: key.id, request: { grace_seconds: 60 } }),
    );
    const outcome = await rotated(rotate(key.id));
    expect(outcome.previous).toMatchObject({
      replaced_by: outcome.key.id,
      grace_until: "2026-11-20T12:01:00.000Z",
    });
    expect(accepts(outcome.apiKey)).toBe(true);
  });

  test("reports a conflict, not an unavailable store, if others change the key at every try", async () => {
    const { store, createKey, accepts, rotate, revoke } = setUp();
    const { key, apiKey } = await createKey();
    let isCrossed = true;
    const cross = async () => {
      if (!isCrossed) return;
      const found = await store.fetch(key.id);
      if (found.kind === "found") await store.update(found.record, found.revision);
      store.beforeNextUpdate(cross);
    };
    for (const change of [() => rotate(key.id), () => revoke(key.id)]) {
      store.beforeNextUpdate(cross);
      expect(await change()).toEqual({ kind: "changed_meanwhile" });
    }
    isCrossed = false;
    expect(accepts(apiKey)).toBe(true);
    const successors = store.list().filter(({ id }) => id !== key.id);
    expect(successors.filter(({ revoked_at }) => revoked_at === undefined)).toEqual([]);
  });

  test("names the successor if it cannot revoke it after a conflict, and makes no more successors", async () => {
    const { store, createKey } = setUp();
    const { key } = await createKey();
    const away = { kind: "unavailable", detail: "away" } as const;
    const keys = anotherFrontEnd({
      ...store,
      fetch: async (id) => (id === key.id ? store.fetch(id) : away),
    });
    store.beforeNextUpdate(() =>
      anotherFrontEnd(store).rotate({ by: actor(admin), id: key.id, request: {} }),
    );
    const outcome = await keys.rotate({ by: actor(admin), id: key.id, request: {} });
    const [, successor, ofOther] = store.list();
    expect(store.list()).toHaveLength(3);
    expect(store.get(key.id)?.replaced_by).toBe(ofOther?.id ?? "");
    expect(outcome).toEqual({ kind: "unavailable", detail: expect.stringContaining(successor?.id ?? "") });
  });

  test("leaves the old key working if it is cut off after the first of its two writes", async () => {
    const { store, createKey, accepts, rotate } = setUp();
    const { key, apiKey } = await createKey();
    store.beforeNextUpdate(async () => store.setReachable(false));
    expect((await rotate(key.id)).kind).toBe("unavailable");
    expect(accepts(apiKey)).toBe(true);
    store.setReachable(true);
    expect((await rotate(key.id)).kind).toBe("rotated");
  });
});

test("a record from a newer version keeps members that this version does not know", async () => {
  const { store, revoke } = setUp();
  const record = { ...someRecord(), note: "kept" };
  await store.create(record);
  await revoke(record.id);
  expect(store.get(record.id)).toMatchObject({ note: "kept", revoked_at: START });
});

test("only the admin makes keys for the system's own tenant, and only for reading", async () => {
  const { keys, createKey } = setUp();
  const tenant = "prooftrail-system";
  for (const scopes of [["events:write"], ["keys:manage"], ["events:read", "events:write"], [...SCOPES]]) {
    const refused = await keys.create({ by: actor(admin), request: { tenant, scopes } });
    const [first] = refused.kind === "invalid" ? refused.problems : [];
    expect([first?.path, first?.code]).toEqual(["/scopes", "invalid_value"]);
    expect(first?.message).toContain("ask for only events:read");
  }
  const request = { tenant, scopes: ["events:read"] };
  expect(await keys.create({ by: actor(manager(["events:read"])), request })).toEqual({
    kind: "other_tenant",
    path: "/tenant",
  });
  expect((await createKey(request)).key.scopes).toEqual(["events:read"]);
});
