/** Loops over the operations of the OpenAPI document, so that a new route cannot miss what every route must do. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { SCOPES } from "../../src/access/scopes.ts";
import { ProblemBody } from "../../src/api/http/schemas.ts";
import { operationsOf, type Operation as Route } from "../support/operations.ts";
import { type Answer, type CallOptions, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
let routes: readonly Route[] = [];
const isProblem = TypeCompiler.Compile(ProblemBody);

beforeAll(async () => {
  service = await startTestService();
  routes = (await operationsOf(service)).map((each) => ({ ...each, path: each.unknownPath }));
});
afterAll(() => service[Symbol.asyncDispose]());

const callRoute = ({ method, path, takesBody }: Route, options: CallOptions = {}): Promise<Answer> =>
  service.call(path, { method, ...(takesBody && { body: {} }), ...options });

/** The answer is a problem with this status, and the document lists the status for this operation. */
const expectDocumented = (route: Route, answer: Answer, status: number): void => {
  const where = `${route.method} ${route.path}`;
  expect([where, answer.status]).toEqual([where, status]);
  expect([where, isProblem.Check(answer.json)]).toEqual([where, true]);
  expect(route.statuses).toContain(String(status));
  expect(route.text).toContain(`\`${answer.json.code}\``);
};

test("without a key: 401, except for routes that need none", async () => {
  for (const route of routes) {
    const answer = await callRoute(route, { key: null });
    if (route.needsKey) expectDocumented(route, answer, 401);
    else if (route.takesBody) expectDocumented(route, answer, 400);
    else if (route.path.includes("unknown")) expect([route.path, answer.status]).toEqual([route.path, 404]);
    else expect([route.path, answer.status]).toEqual([route.path, 200]);
  }
});

test("with a key that lacks the scope: 403 with the name of the scope", async () => {
  const keys: Record<string, string> = {};
  for (const lacking of SCOPES)
    keys[lacking] = await service.makeKey(
      "scopes",
      SCOPES.filter((scope) => scope !== lacking),
    );
  for (const route of routes.filter(({ needsKey }) => needsKey)) {
    // A route for any key documents no 403, and no key gets one.
    const refusals = NEEDS_TWO_SCOPES.has(route.path) ? 2 : Number(route.statuses.includes("403"));
    const answers = await Promise.all(
      Object.entries(keys).map(async ([scope, key]) => ({ scope, answer: await callRoute(route, { key }) })),
    );
    const refused = answers.filter(({ answer }) => answer.status === 403);
    expect([route.path, refused.length]).toEqual([route.path, refusals]);
    for (const { scope, answer } of refused) {
      expectDocumented(route, answer, 403);
      expect(answer.json.detail).toContain(scope);
    }
  }
});

const NEEDS_TWO_SCOPES: ReadonlySet<string> = new Set(["/v1/retention/expiring"]);

test("with a method that the path does not take: 405 with the methods that it takes", async () => {
  for (const { path, method } of routes) {
    const answer = await service.call(path, { method: "PATCH", body: {} });
    expect([path, answer.status, answer.json.code]).toEqual([path, 405, "method_not_allowed"]);
    expect(answer.headers.get("allow")).toContain(method);
  }
});

test("a fixed path takes only its own methods, not those of a path with a parameter in that place", async () => {
  const allow = "OPTIONS, POST";
  for (const path of ["/v1/events/batch", "/v1/events/batch/", "/v1/events/batch?min_sequence=1"]) {
    for (const method of ["GET", "HEAD", "DELETE"]) {
      const { status, headers } = await service.call(path, { method });
      expect([method, path, status, headers.get("allow")]).toEqual([method, path, 405, allow]);
    }
    const options = await service.call(path, { method: "OPTIONS" });
    expect([path, options.status, options.headers.get("allow")]).toEqual([path, 204, allow]);
  }
  const { json } = await service.call("/v1/events/batch");
  expect([json.code, json.detail]).toEqual(["method_not_allowed", "This path takes OPTIONS, POST."]);
  const other = await service.call("/v1/events/batches", { method: "OPTIONS" });
  expect(other.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  expect((await service.call("/v1/events/batches")).status).toBe(404);
});

test("with the id of something that does not exist: 404", async () => {
  const withId = routes.filter(({ path }) => path.includes("unknown"));
  expect(withId.length).toBeGreaterThanOrEqual(3);
  for (const route of withId) {
    const { takesBody, example: body } = route;
    expectDocumented(route, await callRoute(route, { ...(takesBody && body && { body }) }), 404);
  }
});

test("with a body that is not JSON, of another type or too large: 400, 415, 413", async () => {
  const withBody = routes.filter(({ takesBody }) => takesBody);
  expect(withBody.length).toBeGreaterThanOrEqual(4);
  for (const route of withBody) {
    expectDocumented(route, await callRoute(route, { body: "{" }), 400);
    expectDocumented(
      route,
      await callRoute(route, { body: "{}", headers: { "content-type": "text/plain" } }),
      415,
    );
    expectDocumented(route, await callRoute(route, { body: "x".repeat(17 * 1024 * 1024) }), 413);
  }
});

test("with an unknown query parameter: 400, never an answer to another question", async () => {
  for (const route of routes.filter(({ path }) => path.startsWith("/v1"))) {
    const answer = await callRoute({ ...route, path: `${route.path}?colour=red` });
    expectDocumented(route, answer, 400);
    expect([route.path, answer.json.errors[0].path]).toEqual([route.path, "query:colour"]);
  }
});

test("a list gives next_cursor, null at the end, as the document says", async () => {
  const { json } = await service.call("/docs/json");
  const lists: string[] = [];
  for (const [path, methods] of Object.entries<Record<string, { responses: object }>>(json.paths)) {
    const text = JSON.stringify(methods.get?.responses ?? {});
    const { status, json: body } = await service.call(path);
    if (methods.get === undefined || status !== 200 || !Array.isArray(body?.data)) continue;
    lists.push(path);
    expect([path, body.next_cursor]).toEqual([path, null]);
    expect([path, text.includes('"required":["data","next_cursor","request_id"')]).toEqual([path, true]);
    expect([path, text.includes('"next_cursor":null')]).toEqual([path, true]);
  }
  for (const path of ["/v1/activity", "/v1/sandbox/events", "/v1/sandbox/assets", "/v1/keys", "/v1/holds"])
    expect(lists).toContain(path);
});

test("HEAD answers as GET does, with the length of its body and without the body", async () => {
  for (const { path } of routes.filter(({ method }) => method === "GET")) {
    // The numbers in the metrics change with each request, and so may the length: so wait for a length that both had.
    const lengths = new Set<string | null>();
    const named = new Set<string | null>();
    await until(`${path} is told to be as long as it is`, async () => {
      const [get, head] = [await service.call(path), await service.call(path, { method: "HEAD" })];
      expect([path, head.status, head.text]).toEqual([path, get.status, ""]);
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
      lengths.add(get.headers.get("content-length"));
      named.add(head.headers.get("content-length"));
      // A streamed body has no length.
      return named.has(null) || !named.isDisjointFrom(lengths);
    });
  }
});

test("every answer has a request id, and caches keep nothing of the log", async () => {
  for (const route of routes) {
    const answer = await callRoute(route);
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  }
});
