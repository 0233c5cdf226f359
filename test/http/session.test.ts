/** Sessions of browsers: who gets one, what it opens, and how it ends. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SCOPES } from "../../src/access/scopes.ts";
import { operationsOf } from "../support/operations.ts";
import { type Answer, type CallOptions, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

interface SignedIn {
  readonly cookie: string;
  readonly csrf: string;
}

const cookieOf = ({ headers }: Answer): string => headers.get("set-cookie")?.split(";")[0] ?? "";

const post = (key: string | null, options: CallOptions & { readonly query?: string } = {}): Promise<Answer> =>
  service.call(`/v1/session${options.query ?? ""}`, { method: "POST", key, ...options });

const signIn = async (key: string): Promise<SignedIn> => {
  const answer = await post(key, { headers: { origin: service.url } });
  return { cookie: cookieOf(answer), csrf: answer.json.data.csrf_token };
};

const withSession = (path: string, { cookie, csrf }: SignedIn, options: CallOptions = {}): Promise<Answer> =>
  service.call(path, {
    ...options,
    key: null,
    headers: { ...options.headers, cookie, "x-csrf-token": csrf },
  });

describe("signing in", () => {
  test("a key with events:read gets a cookie that scripts cannot read and other sites do not send", async () => {
    const key = await service.makeKey("acme", ["events:read"]);
    const answer = await post(key, { headers: { origin: service.url } });
    expect(answer.status).toBe(201);
    expect(answer.json.data).toMatchObject({ tenant: "acme", scopes: ["events:read"] });
    const set = answer.headers.get("set-cookie") ?? "";
    expect(set).toMatch(/^prooftrail-loopback=[^;]+; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(`${set}${answer.text}`).not.toContain(key.split("_")[2] ?? "");
  });

  test("only a browser on plain HTTP on this machine gets a cookie without Secure", async () => {
    const key = await service.makeKey("acme", ["events:read"]);
    const origins = [
      undefined,
      "https://audit.example",
      "http://audit.example",
      "http://127.0.0.1.audit.example",
      "https://127.0.0.1",
      "null",
    ];
    for (const origin of origins) {
      const { headers } = await post(key, { headers: origin === undefined ? {} : { origin } });
      expect([origin, headers.get("set-cookie")]).toEqual([
        origin,
        expect.stringMatching(/^__Host-prooftrail=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Secure$/),
      ]);
    }
    const host = { host: "audit.example", origin: "http://localhost" };
    expect((await post(key, { headers: host })).headers.get("set-cookie")).toStartWith("__Host-");
  });

  test("no key, a wrong key, and a key without events:read get none", async () => {
    const weak = await service.makeKey("acme", ["events:write"]);
    for (const [key, status, code] of [
      [null, 401, "missing_api_key"],
      ["ptk_wrong", 401, "invalid_api_key"],
      [weak, 403, "insufficient_scope"],
    ] as const) {
      const answer = await post(key);
      expect([answer.status, answer.json.code]).toEqual([status, code]);
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
  });

  test("a session cannot start the next one, and a planted cookie does not survive a sign-in", async () => {
    const key = await service.makeKey("acme", ["events:read"]);
    const session = await signIn(key);
    const again = await withSession("/v1/session", session, { method: "POST" });
    expect([again.status, again.json.code, again.headers.get("set-cookie")]).toEqual([
      401,
      "missing_api_key",
      null,
    ]);
    const fixed = await post(key, { headers: { origin: service.url, cookie: session.cookie } });
    expect([fixed.status, cookieOf(fixed) === session.cookie]).toEqual([201, false]);
  });

  test("a link's key works once, and its session goes on", async () => {
    const key = await service.makeKey("acme", ["events:read"]);
    const first = await post(key, { query: "?once=true", headers: { origin: service.url } });
    expect(first.status).toBe(201);
    const second = await post(key, { query: "?once=true" });
    expect([second.status, second.json.code]).toEqual([401, "invalid_api_key"]);
    expect((await service.call("/v1/events", { key })).status).toBe(401);
    const session = { cookie: cookieOf(first), csrf: first.json.data.csrf_token };
    expect((await withSession("/v1/events", session)).status).toBe(200);
    const admin = await post(service.adminKey, { query: "?once=true" });
    expect(admin.status).toBe(404);
  });
});

describe("a session", () => {
  test("says who it is, and is renewed", async () => {
    const session = await signIn(await service.makeKey("acme", ["events:read"]));
    const answer = await withSession("/v1/session", session);
    expect(answer.json.data).toMatchObject({ tenant: "acme", csrf_token: session.csrf });
    expect(cookieOf(answer)).not.toBe(session.cookie);
    expect((await withSession("/v1/events", { ...session, cookie: cookieOf(answer) })).status).toBe(200);
  });

  test("is not asked where a header says who asks", async () => {
    const session = await signIn(await service.makeKey("acme", ["events:read"]));
    const key = await service.makeKey("other", ["events:read"]);
    const answer = await service.call("/v1/session", { key, headers: { cookie: session.cookie } });
    expect([answer.json.data.tenant, answer.json.data.csrf_token]).toEqual(["other", undefined]);
    const wrong = await service.call("/v1/session", {
      key: "ptk_wrong",
      headers: { cookie: session.cookie },
    });
    expect(wrong.status).toBe(401);
  });

  test("leaves the browser when it is signed out", async () => {
    const session = await signIn(await service.makeKey("acme", ["events:read"]));
    const { status, headers } = await withSession("/v1/session", session, { method: "DELETE" });
    expect([status, headers.getSetCookie().length]).toEqual([200, 2]);
    for (const cookie of headers.getSetCookie()) expect(cookie).toContain("Max-Age=0");
  });

  test("a cookie under the name of loopback counts on loopback alone", async () => {
    const session = await signIn(await service.makeKey("acme", ["events:read"]));
    for (const headers of [{ host: "audit.example" }, { "x-forwarded-proto": "https" }]) {
      const answer = await withSession("/v1/events", session, { headers });
      expect([answer.status, answer.json.code]).toEqual([401, "missing_api_key"]);
    }
    const secure = session.cookie.replace("prooftrail-loopback", "__Host-prooftrail");
    const answer = await withSession(
      "/v1/events",
      { ...session, cookie: secure },
      { headers: { host: "a.example" } },
    );
    expect(answer.status).toBe(200);
  });
});

test("a session writes nothing without its token, on any route", async () => {
  const session = await signIn(await service.makeKey("acme", [...SCOPES]));
  const writes = (await operationsOf(service)).filter(
    ({ needsKey, method, path, scope }) =>
      needsKey && method !== "GET" && scope !== undefined && !path.startsWith("/v1/session"),
  );
  expect(writes.length).toBeGreaterThan(10);
  for (const { name, method, unknownPath, takesBody } of writes) {
    const options = { method, ...(takesBody && { body: {} }) };
    const { status, json } = await withSession(unknownPath, { ...session, csrf: "" }, options);
    expect([name, status, json.code]).toEqual([name, 403, "csrf_token_required"]);
    expect((await withSession(unknownPath, session, options)).json?.code).not.toBe("csrf_token_required");
  }
});
