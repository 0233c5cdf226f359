/** `<prooftrail-events>` on a page of another origin, and the tokens that it shows events with. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { describeInBrowser, openPage, startBrowser, type TestBrowser } from "../support/browser.ts";
import { expectAccessible } from "../support/console.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
let maker: string;
let pages: Bun.Server<undefined>;
let strangers: Bun.Server<undefined>;

/** A page of a customer, which allows nothing but the service. */
const servePage = () =>
  Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { searchParams } = new URL(request.url);
      const [token, lang] = [searchParams.get("token") ?? "", searchParams.get("lang") ?? "en"];
      return new Response(
        `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>Customer</title>
<meta name="viewport" content="width=device-width"><script src="${service.url}/embed.js" async></script></head>
<body><main><h1>Customer</h1><prooftrail-events rows="5" token="${token}"></prooftrail-events></main></body></html>`,
        {
          headers: {
            "content-type": "text/html",
            "content-security-policy": `default-src 'none'; script-src ${service.url}; connect-src ${service.url}; require-trusted-types-for 'script'`,
          },
        },
      );
    },
  });

beforeAll(async () => {
  service = await startTestService();
  pages = servePage();
  strangers = servePage();
  maker = await service.makeKey("acme", ["events:embed", "events:write", "events:read"]);
  for (const index of Array.from({ length: 12 }).keys()) {
    const assetId = index % 4 === 3 ? "hiring_model" : "<b>credit</b>_model";
    const members = { event_id: `evt_${index}`, asset_id: assetId, metadata: { secret: "salary" } };
    const { json } = await service.call("/v1/events", { key: maker, body: event(members) });
    await service.call(`/v1/events?min_sequence=${json.data.sequence}`, { key: maker });
  }
});
afterAll(async () => {
  await pages.stop(true);
  await strangers.stop(true);
  await service[Symbol.asyncDispose]();
});

const originOf = ({ port }: { readonly port?: number | undefined }): string => `http://127.0.0.1:${port}`;

const tokenFor = async (body: object = {}, key = maker): Promise<string> => {
  const answer = await service.call("/v1/embed-tokens", {
    key,
    body: { origins: [originOf(pages)], ...body },
  });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json.data.token;
};

const ask = (token: string, query = "", headers: Readonly<Record<string, string>> = {}) =>
  service.call(`/v1/embed/events${query}`, { key: token, headers: { origin: originOf(pages), ...headers } });

const CREDIT = { filter: { asset_id: "<b>credit</b>_model" } };

test("a token shows time, type and system of its events, to the origins that it names", async () => {
  const { json, headers } = await ask(await tokenFor(CREDIT), "?lang=ko&limit=1");
  expect(json.data).toEqual([
    {
      event_id: "evt_10",
      timestamp: "2026-11-20T10:00:00Z",
      event_type: "decision.automated_decision_made",
      label: "자동화된 결정",
      asset_id: "<b>credit</b>_model",
    },
  ]);
  expect(headers.get("access-control-allow-origin")).toBe(originOf(pages));
  expect(headers.get("access-control-allow-credentials")).toBeNull();
  expect(headers.get("vary")).toContain("Origin");
});

test("a widened or changed filter is refused, and so is a page of another origin", async () => {
  const token = await tokenFor(CREDIT);
  for (const query of [
    "?asset_id=hiring_model",
    "?event_type=decision.*",
    "?q=salary",
    "?tag.a=b",
    "?colour=red",
  ]) {
    const { status, json } = await ask(token, query);
    expect([query, status, json.code]).toEqual([query, 403, "embed_token_exceeded"]);
    expect(json.errors[0].path).toStartWith("query:");
  }
  const same = await ask(token, `?asset_id=${encodeURIComponent(CREDIT.filter.asset_id)}`);
  expect(same.json.data).toHaveLength(9);
  const other = await ask(token, "", { origin: originOf(strangers) });
  expect([other.status, other.json.code]).toEqual([403, "embed_token_exceeded"]);
  expect(other.headers.get("access-control-allow-origin")).toBeNull();
  const cursor = (await ask(await tokenFor(), "?limit=1")).json.next_cursor;
  expect((await ask(token, `?limit=1&cursor=${cursor}`)).json.errors[0].path).toBe("query:cursor");
});

test("what has ended, a changed token, a key and a session read nothing, and a token is no key", async () => {
  const ended = await tokenFor({ expires_in: 1 });
  await until("the token is over", async () => (await ask(ended)).status === 401);
  const made = await service.call("/v1/keys", { body: { tenant: "acme", scopes: ["events:embed"] } });
  const ofRevoked = await tokenFor({}, made.json.data.api_key);
  expect((await ask(ofRevoked)).status).toBe(200);
  await service.call(`/v1/keys/${made.json.data.id}`, { method: "DELETE" });
  const token = await tokenFor(CREDIT);
  for (const [sent, isOurs] of [
    [ended, true],
    [ofRevoked, true],
    [`${token.slice(0, -3)}AAA`, false],
    [maker, false],
  ] as const) {
    const { status, json, headers } = await ask(sent);
    expect([status, json.code]).toEqual([401, "invalid_api_key"]);
    // The page of a token that has ended must be able to say so.
    expect(headers.get("access-control-allow-origin")).toBe(isOurs ? originOf(pages) : null);
  }
  for (const path of ["/v1/events", "/v1/vocabulary", "/v1/session"])
    expect([path, (await service.call(path, { key: token })).status]).toEqual([path, 401]);
  expect((await service.call("/v1/embed/events", { key: null })).json.code).toBe("missing_api_key");
  const widening = await service.call("/v1/embed-tokens", {
    key: token,
    body: { origins: [originOf(pages)] },
  });
  expect(widening.status).toBe(401);
});

test("a token with a wrong filter or origin is not made, and only with the scope", async () => {
  const body = { filter: { state: "open" }, origins: ["https://Example.com", "https://a.example:443"] };
  const { status, json } = await service.call("/v1/embed-tokens", { key: maker, body });
  expect([status, json.errors.map(({ path }: { path: string }) => path)]).toEqual([
    400,
    ["/filter/state", "/origins/0", "/origins/1"],
  ]);
  const reader = await service.makeKey("acme", ["events:read"]);
  const refused = await service.call("/v1/embed-tokens", { key: reader, body });
  expect([refused.status, refused.json.code]).toEqual([403, "insufficient_scope"]);
});

test("the script is small", async () => {
  const script = await fetch(`${service.url}/embed.js`);
  expect(script.headers.get("access-control-allow-origin")).toBe("*");
  expect(gzipSync(await script.bytes()).byteLength).toBeLessThan(15 * 1024);
});

describeInBrowser("on a page of another origin under a strict policy", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser({ origin: originOf(pages), width: 800 });
  });
  afterAll(() => browser[Symbol.asyncDispose]());

  const open = async (address: string, width = 800) => {
    const opened = await openPage(browser, address);
    await opened.page.setViewportSize({ width, height: 700 });
    return opened;
  };
  const pageWith = (token: string, lang = "en", of = pages): string =>
    `${originOf(of)}/?${new URLSearchParams({ token, lang })}`;

  test.each([
    [800, "light", "en"],
    [390, "dark", "ko"],
  ] as const)(
    "at %p pixels, %s, in %s: a table with pages, by keyboard, and nothing for axe-core",
    async (width, scheme, lang) => {
      const { page, complaints } = await open(pageWith(await tokenFor(CREDIT), lang), width);
      await page.emulateMedia({ colorScheme: scheme });
      const rows = page.locator("prooftrail-events tbody tr");
      await rows.first().waitFor();
      expect(await rows.count()).toBe(5);
      expect(await rows.first().textContent()).toContain("<b>credit</b>_model");
      await expectAccessible(page, `embed ${width} ${scheme} ${lang}`);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await until("the older page is there", async () => (await rows.count()) === 4);
      // The focus is on what leads back.
      await page.keyboard.press("Enter");
      await until("the newest page is there", async () => (await rows.count()) === 5);
      expect(complaints).toEqual([]);
    },
  );

  test("says that there is nothing, that the token has ended, and that the page may not show it", async () => {
    const said = async (address: string): Promise<string | null> => {
      const { page } = await open(address);
      const text = page.locator("prooftrail-events p");
      await until("it is loaded", async () => !["Loading…", "", null].includes(await text.textContent()));
      expect(await page.locator("prooftrail-events tr").count()).toBe(0);
      await expectAccessible(page, "embed");
      return text.textContent();
    };
    const ended = await tokenFor({ expires_in: 1 });
    await until("the token is over", async () => (await ask(ended)).status === 401);
    expect(await said(pageWith(await tokenFor({ filter: { asset_id: "none" } })))).toBe("No events yet.");
    expect(await said(pageWith(ended))).toBe("This view has expired. Load the page again.");
    expect(await said(pageWith(await tokenFor(), "en", strangers))).toBe("The events could not be loaded.");
  });

  test("a page that is told of the end sets another token, and the table comes back", async () => {
    const ended = await tokenFor({ expires_in: 1 });
    await until("the token is over", async () => (await ask(ended)).status === 401);
    const { page } = await open(pageWith(ended));
    await page.getByText("This view has expired").waitFor();
    const renew = `document.querySelector("prooftrail-events").addEventListener("prooftrail-token-ended", (event) => event.target.setAttribute("token", "${await tokenFor(CREDIT)}"))`;
    await page.evaluate(renew);
    await page.evaluate(`document.querySelector("prooftrail-events").setAttribute("rows", "3")`);
    await until(
      "the rows are there",
      async () => (await page.locator("prooftrail-events tbody tr").count()) === 3,
    );
  });
});
