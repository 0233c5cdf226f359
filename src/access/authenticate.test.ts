import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { someRecord } from "../../test/access/key-store-suite.ts";
import { hashSecret, makeApiKey } from "./api-key.ts";
import { authenticate, createAuthenticator } from "./authenticate.ts";
import type { AdminKeyRecord, ApiKeyRecord } from "./key-record.ts";
import { SCOPES } from "./scopes.ts";

const NOW = new Date("2026-11-20T12:00:00.000Z");
const EARLIER = "2026-11-20T11:59:59.999Z";
const LATER = "2026-11-20T12:00:00.001Z";
const LATEST = "2027-01-01T00:00:00.000Z";
const ADMIN_TEXT = "an-operators-own-choice!";

const made = makeApiKey(randomBytes);
const record = someRecord({ id: made.id, secret_hash: hashSecret(made.secret) });
const admin: AdminKeyRecord = { secret_hash: hashSecret(ADMIN_TEXT), created_at: EARLIER };

const ask = (authorization: string | null, stored: ApiKeyRecord | undefined = record) =>
  authenticate({
    authorization,
    now: NOW,
    keys: { get: (id) => (id === stored?.id ? stored : undefined), admin: () => admin },
  });

describe("authentication", () => {
  test("a key gives its tenant, its scopes and its rate limit", () => {
    const of = { keyId: made.id, tenant: "acme", scopes: ["events:write"], isAdmin: false } as const;
    expect(ask(`Bearer ${made.text}`)).toEqual({
      kind: "principal",
      principal: { ...of, scopes: ["events:write"] },
    });
    const limited = { ...record, rate_limit: { requests_per_second: 5 } };
    expect(ask(`Bearer ${made.text}`, limited)).toMatchObject({
      principal: { rateLimit: limited.rate_limit },
    });
  });

  test("a key of the system's tenant can only read, whatever scopes an older version stored", () => {
    const wide = { ...record, tenant: "prooftrail-system", scopes: [...SCOPES] };
    expect(ask(`Bearer ${made.text}`, wide)).toMatchObject({ principal: { scopes: ["events:read"] } });
  });

  test("the admin key has every scope and the default tenant, whatever its text is", () => {
    expect(ask(`Bearer ${ADMIN_TEXT}`)).toEqual({
      kind: "principal",
      principal: { keyId: "admin", tenant: "default", scopes: SCOPES, isAdmin: true },
    });
  });

  test("the form of the header alone says that no key came, that several came, or something else", () => {
    const key = `Bearer ${made.text}`;
    for (const [kind, ...headers] of [
      ["principal", `bearer ${made.text}`, `BEARER ${made.text}`, `Bearer   ${made.text}`],
      ["missing", "", "   ", "Bearer", "Bearer "],
      [
        "several",
        `${key}, ${key}`,
        `${key}, Bearer`,
        `${key}, Basic YWxhZA==`,
        `${key}, `,
        `Basic YWxhZA==, ${key}`,
      ],
      // The last is neither two headers nor a key.
      [
        "not_bearer",
        "Basic YWxhZA==",
        made.text,
        ADMIN_TEXT,
        `Bearer${made.text}`,
        'Digest username="a", realm="b"',
      ],
      ["invalid", `${key},`],
    ] as const)
      for (const header of headers) expect([header, ask(header).kind]).toEqual([header, kind]);
    expect(ask(null)).toEqual({ kind: "missing" });
  });

  test("a caller cannot learn why a key was refused", () => {
    const stranger = makeApiKey(randomBytes);
    const typo = made.text.slice(0, -1) + (made.text.endsWith("0") ? "1" : "0");
    const invalid = { kind: "invalid" } as const;
    for (const text of [`${made.text} ${made.text}`, "a".repeat(257), "nonsense", typo, stranger.text])
      expect([text, ask(`Bearer ${text}`)]).toEqual([text, invalid]);
    for (const changes of [
      { secret_hash: hashSecret("another") },
      { revoked_at: EARLIER },
      // Another front end, whose clock is ahead, revoked it.
      { revoked_at: LATER },
      { expires_at: EARLIER },
      { expires_at: NOW.toISOString() },
      { replaced_by: "x", grace_until: EARLIER },
    ])
      expect([changes, ask(`Bearer ${made.text}`, { ...record, ...changes })]).toEqual([changes, invalid]);
  });

  test.each([
    [{ expires_at: LATER }, LATER],
    [{ grace_until: LATER }, LATER],
    [{ expires_at: LATER, grace_until: LATEST }, LATER],
    [{ expires_at: LATEST, grace_until: LATER }, LATER],
    [{}, undefined],
  ])("a key with %j ends at %s", (ends, expiresAt) => {
    const found = ask(`Bearer ${made.text}`, { ...record, ...ends });
    expect(found.kind === "principal" && found.principal.expiresAt).toBe(expiresAt);
  });

  test("no text is accepted as the admin key if there is no admin key", () => {
    const keys = { get: () => undefined, admin: () => undefined };
    for (const text of [ADMIN_TEXT, "admin", "undefined"]) {
      expect(authenticate({ authorization: `Bearer ${text}`, keys, now: NOW })).toEqual({ kind: "invalid" });
    }
  });
});

describe("the cache of accepted headers", () => {
  test("answers like the full check, and refuses a revoked, replaced or expired key at once", () => {
    let stored: ApiKeyRecord | undefined = record;
    let storedAdmin: AdminKeyRecord | undefined = admin;
    const keys = { get: (id: string) => (id === stored?.id ? stored : undefined), admin: () => storedAdmin };
    const remembering = createAuthenticator(keys);
    const both = (authorization: string) => {
      const full = authenticate({ authorization, keys, now: NOW });
      for (let round = 0; round < 3; round++) expect(remembering(authorization, NOW)).toEqual(full);
      return full.kind;
    };
    const [asKey, asAdmin] = [`Bearer ${made.text}`, `Bearer ${ADMIN_TEXT}`];
    expect([both(asKey), both(asAdmin), both(`Bearer ${made.text}x`)]).toEqual([
      "principal",
      "principal",
      "invalid",
    ]);
    stored = { ...record, scopes: ["events:read"] };
    expect(remembering(asKey, NOW)).toMatchObject({ principal: { scopes: ["events:read"] } });
    stored = { ...record, revoked_at: EARLIER };
    expect(both(asKey)).toBe("invalid");
    stored = { ...record, secret_hash: hashSecret("another") };
    expect(both(asKey)).toBe("invalid");
    stored = undefined;
    expect(both(asKey)).toBe("invalid");
    stored = record;
    expect(both(asKey)).toBe("principal");
    storedAdmin = { ...admin, secret_hash: hashSecret("replaced-by-another") };
    expect(both(asAdmin)).toBe("invalid");
    expect(remembering(null, NOW)).toEqual({ kind: "missing" });
  });

  test.each(["expires_at", "grace_until"])(
    "forgets a key when its %s passes, even if nobody changed the key",
    (end) => {
      const ending = { ...record, [end]: LATER };
      const remembering = createAuthenticator({ get: () => ending, admin: () => admin });
      const asKey = `Bearer ${made.text}`;
      expect([remembering(asKey, NOW).kind, remembering(asKey, NOW).kind]).toEqual([
        "principal",
        "principal",
      ]);
      expect(remembering(asKey, new Date(LATER))).toEqual({ kind: "invalid" });
    },
  );
});
