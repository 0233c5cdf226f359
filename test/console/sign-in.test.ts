/**
 * Signing in with a provider as a person does: in a browser, at a provider of another site, behind a proxy that removes a path prefix. What
 * a forged answer of the provider gets is in test/http/sign-in.test.ts.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { describeInBrowser } from "../support/browser.ts";
import { freePorts } from "../support/cluster.ts";
import { expectAccessible, type OpenConsole, openConsole, speak } from "../support/console.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { signInEnvironment, startSignInProvider, type TestProvider } from "../support/sign-in-provider.ts";

let service: TestService;
let proxy: Bun.Server<undefined>;
let provider: TestProvider;
let root: string;
/** For a browser another site than 127.0.0.1, so no Strict cookie comes with the way back. */
let issuer: string;
beforeAll(async () => {
  const [proxyPort, providerPort] = await freePorts(2);
  root = `http://127.0.0.1:${proxyPort}/audit/`;
  issuer = `http://localhost:${providerPort}`;
  const callback = `${root}v1/session/oidc/callback`;
  service = await startTestService(signInEnvironment(issuer, callback));
  provider = await startSignInProvider(issuer, callback);
  proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: Number(proxyPort),
    fetch: (request) => {
      const asked = { method: request.method, headers: request.headers };
      if (!request.url.startsWith(root)) return new Response(null, { status: 404 });
      const address = `${service.url}/${request.url.slice(root.length)}`;
      // The body goes on as it is: compressed, if it is.
      return fetch(address, { ...asked, redirect: "manual", decompress: false });
    },
  });
});
afterAll(async () => {
  await proxy.stop(true);
  provider[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const open = (path: string, width = 1280): Promise<OpenConsole> =>
  openConsole({ root, width, path, providers: [issuer] });
const button = (page: Page) => page.getByRole("link", { name: /localhost/ });
const signInAtProvider = async (page: Page): Promise<void> => {
  await button(page).click();
  await page.getByRole("button", { name: "Continue" }).click();
};
const isSignedIn = (page: Page): Promise<void> => page.locator("header.side").waitFor();
const sessionIn = (page: Page): Promise<number> =>
  page.evaluate(`fetch("${root}v1/session").then(({ status }) => status)`);

describeInBrowser("in a browser", () => {
  test("the provider's button leads to the screen that was asked for; signing out ends both sessions", async () => {
    await provider.person("kim", "acme:officer", { email: "kim@bank.example", email_verified: true });
    await using opened = await open("decisions?outcome=denied");
    const { page, browser, complaints } = opened;
    await page.waitForURL(/sign-in\?next=/);
    await signInAtProvider(page);
    await isSignedIn(page);
    expect(page.url()).toBe(`${root}decisions?outcome=denied`);
    expect(await page.locator("header.side").textContent()).toContain("kim@bank.example");
    const ours = (await browser.context.cookies(root)).filter(({ name }) => name.startsWith("prooftrail"));
    expect(ours).toMatchObject([{ name: "prooftrail-loopback", httpOnly: true, sameSite: "Strict" }]);
    await page.reload();
    await isSignedIn(page);
    // The provider's page of signing out asks for a font.
    expect(browser.foreignRequests).toEqual([]);

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL((url) => url.origin === issuer);
    await page.getByRole("button", { name: "Yes, sign me out" }).click();
    await page.waitForURL(`${root}sign-in`);
    await button(page).waitFor();
    expect(await sessionIn(page)).toBe(401);
    await provider.person("lee", "acme:auditor");
    await signInAtProvider(page);
    await isSignedIn(page);
    expect(await page.locator("header.side").textContent()).toContain("lee");
    expect(complaints).toEqual([]);
  });

  test("an address that was smuggled in is not followed", async () => {
    await provider.person("kim", "acme:officer");
    await using opened = await open("sign-in");
    const { page, browser } = opened;
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      dialog.dismiss();
    });
    // Which addresses are taken: test/console/console.test.ts.
    for (const next of ["https://evil.example", "javascript:alert(1)", "../events"]) {
      await page.goto(`${root}sign-in?next=${encodeURIComponent(next)}`);
      await signInAtProvider(page);
      await isSignedIn(page);
      expect([next, page.url()]).toEqual([next, root]);
      await browser.context.clearCookies();
    }
    expect([browser.foreignRequests, dialogs]).toEqual([[], []]);
  });

  test("whoever gets no seat reads why, and can ask again for the same screen", async () => {
    await provider.person("park");
    for (const [width, lang, said] of [
      [1280, "en", "You have no role here."],
      [390, "ko", "이곳에 부여된 역할이 없습니다."],
    ] as const) {
      await using opened = await open("sign-in", width);
      const { page, complaints } = opened;
      await speak(page, lang);
      await page.goto(`${root}sign-in?next=.%2Fevents`);
      await signInAtProvider(page);
      await page.waitForURL(/problem=no_role/);
      expect(await page.getByRole("alert").textContent()).toContain(said);
      expect(new URL(page.url()).searchParams.get("next")).toBe("./events");
      expect(await sessionIn(page)).toBe(401);
      await expectAccessible(page, `sign-in ${lang}`);
      expect(complaints).toEqual([]);
    }
  });
});
