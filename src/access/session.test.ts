import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { someRecord } from "../../test/access/key-store-suite.ts";
import { SESSION_IDLE_MS_MAX, SESSION_MS_MAX } from "../limits.ts";
import { hashSecret, makeApiKey } from "./api-key.ts";
import { hashIn, seal } from "./encrypted-text.ts";
import type { AdminKeyRecord, ApiKeyRecord } from "./key-record.ts";
import { openSession, sealSession, startSession } from "./session.ts";

const BEGAN = new Date("2026-11-20T10:00:00.000Z");
const later = (ms: number): Date => new Date(BEGAN.getTime() + ms);

const keyOf = (tenant: string) => {
  const made = makeApiKey(randomBytes);
  return { made, record: someRecord({ id: made.id, tenant, secret_hash: hashSecret(made.secret) }) };
};
const ADMIN: AdminKeyRecord = { secret_hash: hashSecret("the admin key"), created_at: BEGAN.toISOString() };
const storeOf = (...records: readonly ApiKeyRecord[]) => ({
  get: (id: string) => records.find((record) => record.id === id),
  admin: () => ADMIN,
});

const sealed = () => {
  const { made, record } = keyOf("acme");
  const session = startSession({ keyId: made.id, apiKey: made.text }, BEGAN, randomBytes);
  return { made, record, session, cookie: sealSession(session, storeOf(record), randomBytes) ?? "" };
};

test("a cookie opens at any front end that has the key, and shows nothing of it", () => {
  const { made, record, session, cookie } = sealed();
  expect(openSession(cookie, storeOf(record), later(1))).toEqual(session);
  expect(Buffer.from(cookie, "base64url").toString("latin1")).not.toContain(made.secret);
  expect(cookie).not.toContain(made.secret);
});

test("the admin key has a session too", () => {
  const session = startSession({ keyId: "admin", apiKey: "the admin key" }, BEGAN, randomBytes);
  const cookie = sealSession(session, storeOf(), randomBytes) ?? "";
  expect(openSession(cookie, storeOf(), later(1))).toEqual(session);
});

test("a session without the API key needs the client secret: the stored hashes do not do", () => {
  const { record, session } = sealed();
  const { apiKey: _, ...ofSeat } = session;
  const secret = "the secret of the client";
  const keys = { ...storeOf(record), signInSecret: secret };
  const cookie = sealSession(ofSeat, keys, randomBytes) ?? "";
  expect(openSession(cookie, keys, BEGAN)).toEqual(ofSeat);
  for (const signInSecret of [undefined, "another secret of the client"])
    expect(openSession(cookie, { ...keys, signInSecret }, BEGAN)).toBeUndefined();

  const secretOf = hashIn(storeOf(record));
  for (const purpose of ["prooftrail session, version 2", "prooftrail embed token, version 1"] as const) {
    const forged = seal(ofSeat, { purpose, secretOf, randomBytes }) ?? "";
    for (const signInSecret of [secret, undefined])
      expect([purpose, openSession(forged, { ...keys, signInSecret }, BEGAN)]).toEqual([purpose, undefined]);
  }
});

test("a session ends when it is idle, and at its limit however often it is renewed", () => {
  const { record, session, cookie } = sealed();
  const store = storeOf(record);
  expect(openSession(cookie, store, later(SESSION_IDLE_MS_MAX - 1))).toBeDefined();
  expect(openSession(cookie, store, later(SESSION_IDLE_MS_MAX))).toBeUndefined();
  const renewed = sealSession(
    { ...session, usedAt: later(SESSION_MS_MAX - 1).getTime() },
    store,
    randomBytes,
  );
  expect(openSession(renewed ?? "", store, later(SESSION_MS_MAX - 1))).toBeDefined();
  expect(openSession(renewed ?? "", store, later(SESSION_MS_MAX))).toBeUndefined();
});

test("a changed character, another key's id, another hash and texts of other forms open nothing", () => {
  const { record, cookie } = sealed();
  const other = keyOf("other");
  const store = storeOf(record, other.record);
  const [, rest = ""] = cookie.split(".");
  for (let index = 0; index < cookie.length; index += 7) {
    const changed = cookie.slice(0, index) + (cookie[index] === "A" ? "B" : "A") + cookie.slice(index + 1);
    expect([index, openSession(changed, store, BEGAN)]).toEqual([index, undefined]);
  }
  expect(openSession(`${other.made.id}.${rest}`, store, BEGAN)).toBeUndefined();
  expect(openSession(`admin.${rest}`, store, BEGAN)).toBeUndefined();
  const rotated = { ...record, secret_hash: other.record.secret_hash };
  expect(openSession(cookie, storeOf(rotated), BEGAN)).toBeUndefined();
  expect(openSession(cookie, storeOf(), BEGAN)).toBeUndefined();
  for (const text of ["", ".", `${record.id}.`, record.id, `${record.id}.${"A".repeat(38)}`, "🔑.x"])
    expect([text, openSession(text, store, BEGAN)]).toEqual([text, undefined]);
});
