/** `prooftrail console`: a link that signs in once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { runCli } from "../support/cli.ts";
import { createCaller, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const run = (key: string, ...args: string[]) =>
  runCli(["console", ...args], { environment: { PROOFTRAIL_URL: service.url, PROOFTRAIL_API_KEY: key } });

const signIn = (link: string) =>
  createCaller(service.url, new URL(link).hash.replace("#once=", ""))("/v1/session?once=true", {
    method: "POST",
  });

test("it prints a link, which signs in to the tenant once, to read alone unless told", async () => {
  const { code, out } = await run(service.adminKey, "--tenant", "acme");
  expect([code, out]).toEqual([0, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/sign-in#once=\S+\n$/)]);
  const first = await signIn(out.trim());
  expect([first.status, first.json.data.tenant, first.json.data.scopes]).toEqual([
    201,
    "acme",
    ["events:read"],
  ]);
  expect((await signIn(out.trim())).status).toBe(401);
});

test("with more scopes, as JSON", async () => {
  const { out } = await run(
    service.adminKey,
    "--scope",
    "events:read",
    "--scope",
    "obligations:waive",
    "--json",
  );
  const { link, tenant } = JSON.parse(out).data;
  expect(tenant).toBe("default");
  expect((await signIn(link)).json.data.scopes).toEqual(["events:read", "obligations:waive"]);
});

test("a key without keys:manage gets an error that says so", async () => {
  const { code, err } = await run(await service.makeKey("acme", ["events:read"]));
  expect(code).not.toBe(0);
  expect(err).toContain("keys:manage");
});
