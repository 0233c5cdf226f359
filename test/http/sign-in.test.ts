/** Signing in with OpenID Connect against a real provider: who gets in, what is refused, and how it ends. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { seal } from "../../src/access/encrypted-text.ts";
import { freePorts } from "../support/cluster.ts";
import { checksOf } from "../support/diagnosis.ts";
import { startTestService, type TestService } from "../support/service.ts";
import {
  PROVIDER_SECRET,
  signInEnvironment,
  startSignInProvider,
  type TestProvider,
} from "../support/sign-in-provider.ts";

const CALLBACK = "/v1/session/oidc/callback";
let service: TestService;
let issuer: string;
let provider: TestProvider | undefined;
beforeAll(async () => {
  const [port, providerPort] = await freePorts(2);
  issuer = `http://127.0.0.1:${providerPort}`;
  service = await startTestService({
    PORT: String(port),
    ...signInEnvironment(issuer, `http://127.0.0.1:${port}${CALLBACK}`),
  });
});
afterAll(async () => {
  provider?.[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

/** Cookies of one origin. */
class Browser {
  readonly cookies = new Map<string, Map<string, string>>();
  async open(address: string | URL, headers: Record<string, string> = {}): Promise<Response> {
    const { origin } = new URL(address);
    const jar = this.cookies.get(origin) ?? new Map<string, string>();
    this.cookies.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(address, { redirect: "manual", headers: { cookie, ...headers } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "" || set.includes("Max-Age=0")) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  }
  /** Where the browser is sent to from here, up to the first address that `stops`. */
  async follow(address: string | URL, stops: (to: URL) => boolean): Promise<URL> {
    let at = new URL(address);
    while (!stops(at)) {
      const to = (await this.open(at)).headers.get("location");
      if (to === null) throw new Error(`no way on from ${at.href}`);
      at = new URL(to, at);
    }
    return at;
  }
}

const isCallback = ({ pathname }: URL): boolean => pathname === CALLBACK;
const isConsole = (to: URL): boolean => to.origin === service.url && !to.pathname.startsWith("/v1/");
const startAddress = (query = ""): string => `${service.url}/v1/session/oidc${query}`;
const signIn = (browser: Browser, query = ""): Promise<URL> => browser.follow(startAddress(query), isConsole);
const problemOf = (page: URL): string | null => page.searchParams.get("problem");

const control: TestProvider["set"] = async (settings) => provider?.set(settings);
const person: TestProvider["person"] = async (...who) => provider?.person(...who);

const whoIs = async (browser: Browser) => {
  const answer = await browser.open(`${service.url}/v1/session`);
  return { status: answer.status, ...JSON.parse(await answer.text()).data };
};
const seatsOf = async (tenant: string) =>
  (await service.call(`/v1/keys?tenant=${tenant}`)).json.data as readonly { id: string; person: string }[];

const doctor = (address: string) => checksOf("sign-in", signInEnvironment(address, service.url + CALLBACK));

test("a provider that is away stops nothing, and is named as such", async () => {
  expect(problemOf(await signIn(new Browser()))).toBe("provider_away");
  expect(await doctor(issuer)).toMatchObject([
    { state: "failed", detail: expect.stringContaining("Unable to connect") },
  ]);
  provider = await startSignInProvider(issuer, service.url + CALLBACK);
  expect(await doctor(issuer)).toMatchObject([{ state: "ok" }]);
  for (const [address, said] of [
    [`${issuer}/realm`, "HTTP 404"],
    [issuer.replace("127.0.0.1", "localhost"), "does not match the expected issuer"],
  ] as const)
    expect(await doctor(address)).toMatchObject([{ state: "failed", detail: expect.stringContaining(said) }]);
});

describe("signing in", () => {
  test("makes a seat once, with the role of the claim, and leads to the screen that was asked for", async () => {
    await person("kim", ["acme:officer", "offline_access", "acme:boss", 7], {
      email: "Kim@bank.example",
      email_verified: true,
    });
    const browser = new Browser();
    const page = await signIn(browser, "?next=.%2Fdecisions%3Foutcome%3Ddenied");
    expect(page.href).toBe(`${service.url}/decisions?outcome=denied`);
    const who = await whoIs(browser);
    expect(who).toMatchObject({ status: 200, tenant: "acme", role: "officer", person: "Kim@bank.example" });
    await person("kim", "acme:admin", { email: "kim@BANK.example", email_verified: true });
    const again = new Browser();
    await signIn(again);
    expect(await whoIs(again)).toMatchObject({ key_id: who.key_id, role: "officer" });
    expect(await seatsOf("acme")).toMatchObject([{ created_by: "oidc", role: "officer" }]);
    expect((await browser.open(`${service.url}/v1/events`)).status).toBe(200);
    const write = { method: "POST", headers: { cookie: "", "content-type": "application/json" } };
    expect((await fetch(`${service.url}/v1/events`, { ...write, body: "{}" })).status).toBe(401);
  });

  test("takes the tenant that is asked for, else the first by name, and an address only if it is verified", async () => {
    await person("lee", ["zeta:auditor", "beta:developer", "beta:admin"], { email: "kim@bank.example" });
    const [first, asked, other] = [new Browser(), new Browser(), new Browser()];
    await signIn(first);
    expect(await whoIs(first)).toMatchObject({ tenant: "beta", role: "admin", person: "lee" });
    await signIn(asked, "?tenant=zeta");
    expect(await whoIs(asked)).toMatchObject({ tenant: "zeta", role: "auditor" });
    expect(problemOf(await signIn(other, "?tenant=acme"))).toBe("no_role");
  });

  test("is refused without a role", async () => {
    for (const roles of [
      undefined,
      [],
      "acme",
      "acme:boss",
      "Acme:admin",
      "acme:admin:x",
      { acme: "admin" },
    ]) {
      await person("nobody", roles);
      const browser = new Browser();
      expect([roles, problemOf(await signIn(browser))]).toEqual([roles, "no_role"]);
      expect((await whoIs(browser)).status).toBe(401);
    }
  });

  test("leads to no other address than a screen of the console", async () => {
    await person("hostile", "acme:auditor");
    for (const next of [
      "//evil.example",
      "https://evil.example/events",
      "https:evil.example",
      "\\\\evil.example",
      "/\\evil.example",
      "%2F%2Fevil.example",
      "javascript:alert(1)",
      "./v1/keys",
      "./sign-in?problem=no_role",
      "../../docs",
      "http://[",
      "./events".padEnd(3000, "?"),
    ]) {
      const page = await signIn(new Browser(), `?next=${encodeURIComponent(next)}`);
      expect([next, page.href]).toEqual([next, `${service.url}/`]);
    }
  });
});

describe("a sign-in that is not one", () => {
  const REFUSED = "no session was made: ";
  const reached = async (browser: Browser): Promise<URL> => browser.follow(startAddress(), isCallback);
  const finish = async (browser: Browser, at: URL): Promise<string> => {
    const answer = await browser.open(at);
    const isMade = answer.headers
      .getSetCookie()
      .some((cookie) => /^(__Host-)?prooftrail(-loopback)?=[^;]/.test(cookie));
    return `${isMade ? "" : REFUSED}${problemOf(new URL(answer.headers.get("location") ?? "", at)) ?? ""}`;
  };
  test("another state, another browser, a used one, another nonce, and what the provider refuses", async () => {
    await person("kim", "acme:auditor");
    const forger = new Browser();
    const forged = await reached(forger);
    forged.searchParams.set("state", "forged");
    expect(await finish(forger, forged)).toBe(`${REFUSED}sign_in_expired`);

    const victim = new Browser();
    const lured = await reached(new Browser());
    expect(await finish(victim, lured)).toBe(`${REFUSED}sign_in_expired`);
    await victim.open(startAddress());
    expect(await finish(victim, lured)).toBe(`${REFUSED}sign_in_expired`);

    const browser = new Browser();
    const at = await reached(browser);
    const kept = new Map(browser.cookies.get(service.url));
    expect(await finish(browser, at)).toBe("");
    expect(await finish(browser, at)).toBe(`${REFUSED}sign_in_expired`);
    const thief = new Browser();
    thief.cookies.set(service.url, kept);
    expect(await finish(thief, at)).toBe(`${REFUSED}provider_refused`);

    const other = new Browser();
    const address = new URL((await other.open(startAddress())).headers.get("location") ?? "");
    expect(address.searchParams.get("code_challenge_method")).toBe("S256");
    address.searchParams.set("nonce", "another");
    expect(await finish(other, await other.follow(address, isCallback))).toBe(`${REFUSED}provider_answer`);

    await control({ error: "access_denied" });
    const refused = await signIn(new Browser(), "?next=.%2Fevents");
    expect([problemOf(refused), refused.searchParams.get("next")]).toEqual(["provider_refused", "./events"]);
  });

  test("one that took too long, and one whose cookie somebody else sealed", async () => {
    await person("kim", "acme:auditor");
    const [hidden, cookieName] = [PROVIDER_SECRET, "prooftrail-loopback-sign-in"];
    for (const [seconds, secret, problem] of [
      // It reaches the provider, which never gave out this code.
      [60, hidden, "provider_refused"],
      [-1, hidden, "sign_in_expired"],
      [60, "another-client-secret", "sign_in_expired"],
    ] as const) {
      const [state, nonce, verifier] = ["s".repeat(43), "n".repeat(43), "v".repeat(43)];
      const attempt = { state, nonce, verifier, until: Date.now() + seconds * 1000, wish: { next: "" } };
      const cookie = seal(
        { keyId: "oidc", ...attempt },
        { purpose: "prooftrail sign-in, version 1", secretOf: () => secret, randomBytes },
      );
      const browser = new Browser();
      browser.cookies.set(service.url, new Map([[cookieName, cookie ?? ""]]));
      const query = new URLSearchParams({ code: "c".repeat(43), state, iss: issuer });
      const back = new URL(`${service.url}${CALLBACK}?${query}`);
      expect([seconds, secret, await finish(browser, back)]).toEqual([seconds, secret, REFUSED + problem]);
    }
  });

  test("keys that the provider changed are fetched", async () => {
    await person("kim", "acme:auditor");
    for (const kid of ["second", "third"]) {
      await control({ kid });
      expect([kid, problemOf(await signIn(new Browser()))]).toEqual([kid, null]);
    }
  });

  test("a clock that is off by seconds is allowed for, one that is behind by minutes is not", async () => {
    await person("kim", "acme:auditor");
    for (const [seconds, problem] of [
      [-40, null],
      [40, null],
      [-300, "provider_clock"],
    ] as const) {
      await control({ clockMs: seconds * 1000 });
      expect([seconds, problemOf(await signIn(new Browser()))]).toEqual([seconds, problem]);
    }
  });
});

describe("a seat", () => {
  test("that was revoked ends its sessions and lets nobody in; a new one does", async () => {
    await person("park", "gamma:officer");
    const browser = new Browser();
    await signIn(browser);
    const { key_id: id } = await whoIs(browser);
    await service.call(`/v1/keys/${id}`, { method: "DELETE" });
    expect((await whoIs(browser)).status).toBe(401);
    expect(problemOf(await signIn(new Browser()))).toBe("seat_ended");
    await service.call("/v1/keys", { body: { tenant: "gamma", role: "auditor", person: "park" } });
    const again = new Browser();
    await signIn(again);
    expect(await whoIs(again)).toMatchObject({ role: "auditor", tenant: "gamma" });
  });

  test("signs out here and at the provider", async () => {
    await person("choi", "gamma:officer");
    const browser = new Browser();
    await signIn(browser);
    const { csrf_token: token } = await whoIs(browser);
    const cookie = [...(browser.cookies.get(service.url) ?? [])].map((pair) => pair.join("=")).join("; ");
    const answer = await fetch(`${service.url}/v1/session`, {
      method: "DELETE",
      headers: { cookie, "x-csrf-token": token },
    });
    const at = new URL(JSON.parse(await answer.text()).data.continue_at);
    expect([at.origin, at.searchParams.get("post_logout_redirect_uri")]).toEqual([
      issuer,
      `${service.url}/sign-in`,
    ]);
    expect(answer.headers.getSetCookie().length).toBe(2);
  });
});

test("half a configuration is refused with what is missing, and names no secret", async () => {
  const secret = { OIDC_CLIENT_SECRET: "short-and-secret" };
  await expect(startTestService({ OIDC_ISSUER: "https://login.example", ...secret })).rejects.toThrow(
    /OIDC_CLIENT_ID must be set with OIDC_ISSUER, OIDC_CLIENT_SECRET.*\nOIDC_REDIRECT_URI must be set/,
  );
});
