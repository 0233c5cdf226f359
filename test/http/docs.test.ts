import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { EVENT_TYPES } from "../../src/event/event-types.ts";
import { BATCH_BODY_BYTES_MAX, OBJECT_BODY_BYTES_MAX, SINGLE_BODY_BYTES_MAX } from "../../src/limits.ts";
import { decodeRecord } from "../../src/log/record.ts";
import { leafHash, verifyConsistency, verifyInclusion } from "../../src/proof/rfc6962.ts";
import { parseVerifierKey } from "../../src/proof/signed-note.ts";
import { openCheckpoint } from "../../src/proof/tlog-checkpoint.ts";
import { parseTlogProof, verifyTlogProof } from "../../src/proof/tlog-proof.ts";
import { describeInBrowser, openPage, startBrowser } from "../support/browser.ts";
import { type Answer, event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

type Examples = Readonly<
  Record<string, { readonly value: { readonly _sandbox_watermark?: string; readonly errors?: object[] } }>
>;

interface ParameterSchema {
  readonly type: "string" | "integer" | "boolean" | "object" | "array";
  readonly pattern?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description: string;
    readonly schema: ParameterSchema & { readonly items?: ParameterSchema };
    readonly example?: unknown;
  }[];
  readonly requestBody?: {
    readonly description: string;
    readonly content: Readonly<Record<string, { readonly schema: object; readonly example: unknown }>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly content?: Readonly<
          Record<
            string,
            { readonly schema: object; readonly example?: unknown; readonly examples?: Examples }
          >
        >;
      }
    >
  >;
}

interface Text {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
}

const isBodySchema = (
  schema: object = {},
): schema is { readonly properties: Readonly<Record<string, Text>> } => "properties" in schema;

/** Paths whose bodies contain events. */
const BODY_BYTES_MAX: ReadonlyMap<string, number> = new Map([
  ["/v1/events", SINGLE_BODY_BYTES_MAX],
  ["/v1/sandbox/events", SINGLE_BODY_BYTES_MAX],
  ["/v1/events/batch", BATCH_BODY_BYTES_MAX],
]);

interface BodySchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

/** A schema that has a name: every other schema stands where it is used. */
const referredTo = (schema: object = {}): BodySchema => {
  const name = "$ref" in schema ? String(schema.$ref).replace("#/components/schemas/", "") : "";
  const found = schemas[name];
  if (!found) throw new Error(`${JSON.stringify(schema)} refers to no schema of the document`);
  return found;
};

let service: TestService;
let schemas: Readonly<Record<string, BodySchema>> = {};
let paths: Record<string, Record<string, Operation>> = {};
let documentText = "";
beforeAll(async () => {
  service = await startTestService();
  const answer = await service.call("/docs/json", { key: null });
  documentText = answer.text;
  paths = answer.json.paths;
  schemas = answer.json.components.schemas;
});
afterAll(() => service[Symbol.asyncDispose]());

const operations = (): [string, string, Operation][] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
      method,
      path,
      operation,
    ]),
  );

describe("the OpenAPI document", () => {
  test("needs no key for the sandbox, health and metrics alone (the others: see the tests of seats)", () => {
    const open = operations().filter(([, , { security }]) => security.length === 0);
    expect(open.map(([method, path]) => `${method} ${path}`).sort()).toEqual([
      "get /health/live",
      "get /health/ready",
      "get /metrics",
      "get /v1/sandbox/assets",
      "get /v1/sandbox/decisions/{decision_id}",
      "get /v1/sandbox/events",
      "get /v1/sandbox/events/{event_id}/proof",
      "get /v1/sandbox/ping",
      "post /v1/sandbox/classify",
      "post /v1/sandbox/events",
    ]);
  });

  const TWO_FORMS = ["/v1/export", "/v1/events/{event_id}/proof"];
  /** A list is also a file: CSV and NDJSON. */
  const formsOf = (path: string, parameters: readonly { readonly name: string }[] = []): number =>
    TWO_FORMS.includes(path) ? 2 : parameters.some(({ name }) => name === "format") ? 3 : 1;

  test("gives every operation a name, a description, a tag, its authentication, examples and errors", () => {
    const ids = new Set<string>();
    for (const [method, path, operation] of operations()) {
      const where = `${method} ${path}`;
      expect([where, operation.operationId]).toEqual([where, expect.stringMatching(/^[a-z][A-Za-z]+$/)]);
      ids.add(operation.operationId);
      expect([
        where,
        operation.summary.length > 3,
        operation.description.length > 20,
        operation.tags.length,
      ]).toEqual([where, true, true, 1]);
      const needsKey = path.startsWith("/v1") && !path.startsWith("/v1/sandbox");
      expect([where, operation.security]).toEqual([where, needsKey ? [{ apiKey: [] }] : []]);
      expect([where, Object.keys(operation.responses)]).toEqual([
        where,
        expect.arrayContaining(needsKey ? ["401", "429", "500"] : ["500"]),
      ]);
      const isForAnyKey = ["/v1/classify", "/v1/vocabulary"].includes(path);
      expect([where, "403" in operation.responses]).toEqual([where, needsKey && !isForAnyKey]);
      for (const [status, response] of Object.entries(operation.responses)) {
        const content = Object.values(response.content ?? {});
        expect([where, status, response.description.length > 0, content.length]).toEqual([
          where,
          status,
          true,
          status === "200" ? formsOf(path, operation.parameters) : 1,
        ]);
        for (const { example, examples } of content)
          expect([where, status, example ?? examples]).not.toEqual([where, status, undefined]);
      }
      if (operation.requestBody) {
        expect([where, Object.keys(operation.requestBody.content)]).toEqual([where, ["application/json"]]);
        expect(operation.requestBody.content["application/json"]?.example).toBeDefined();
      }
    }
    expect(ids.size).toBe(operations().length);
  });

  test("shows errors as they are sent: with the watermark in the sandbox, and with each problem of a request", () => {
    for (const [method, path, { responses }] of operations()) {
      const watermark = path.startsWith("/v1/sandbox") ? "SANDBOX — NOT FOR PRODUCTION" : undefined;
      for (const [status, { content }] of Object.entries(responses)) {
        const { schema, examples = {} } = content?.["application/problem+json"] ?? {};
        for (const [code, { value }] of Object.entries(examples)) {
          const where = `${method} ${path} ${status} ${code}`;
          const isDeclared = "_sandbox_watermark" in referredTo(schema).properties;
          expect([where, value._sandbox_watermark, isDeclared]).toEqual([
            where,
            watermark,
            watermark !== undefined,
          ]);
          expect([where, value.errors?.length]).toEqual([where, code === "invalid_request" ? 1 : undefined]);
        }
      }
    }
  });

  test("has one named schema for the body of problems, so that a generated client has one type and not one per operation and status", () => {
    const { title, status, detail, code, request_id } = schemas.Problem?.properties ?? {};
    expect(schemas.Problem?.required).toEqual(["type", "title", "status", "detail", "code", "request_id"]);
    expect([title, status, detail, code, request_id]).not.toContain(undefined);
    const contents = operations().flatMap(([, , { responses }]) =>
      Object.values(responses).flatMap(({ content }) => content?.["application/problem+json"] ?? []),
    );
    const referred = new Set(contents.map(({ schema }) => referredTo(schema)));
    expect([...referred]).toEqual([schemas.Problem, schemas.SandboxProblem] as BodySchema[]);
    expect(documentText.split('"Only with `event_expired`: position of the record."')).toHaveLength(3);
  });

  test("declares each path parameter once", () => {
    for (const [method, path, { parameters = [] }] of operations()) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
      expect([method, path, declared]).toEqual([method, path, named as string[]]);
      const all = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(new Set(all).size).toBe(all.length);
      expect(parameters.every(({ description }) => description.length > 3)).toBe(true);
    }
  });

  test("shows example values that the parameters accept", () => {
    const texts = (_: object) => Type.Record(Type.String(), Type.String());
    const kinds = {
      string: Type.String,
      integer: Type.Integer,
      boolean: Type.Boolean,
      object: texts,
      array: (_: object) => Type.Array(Type.String()),
    };
    const told: unknown[] = [];
    for (const [, path, { parameters = [] }] of operations())
      for (const { name, schema, example } of parameters)
        for (const value of [example, schema.default]) {
          if (value === undefined) continue;
          const isOne =
            Value.Check(kinds[schema.type](schema), value) && (schema.enum?.includes(value) ?? true);
          told.push(value);
          expect([path, name, value, isOne]).toEqual([path, name, value, true]);
        }
    expect(told.length).toBeGreaterThan(20);
  });

  test("gives each integer its width, because generated clients use 32 bits if none is given", () => {
    const integers: { readonly format?: string; readonly maximum?: number }[] = [];
    JSON.parse(documentText, (_, value) => {
      if (value?.type === "integer") integers.push(value);
      return value;
    });
    const isSaid = ({ format, maximum = Number.POSITIVE_INFINITY }: (typeof integers)[number]) =>
      format === "int64" || format === "int32" || maximum < 2 ** 31;
    expect(integers.filter((each) => !isSaid(each))).toEqual([]);
    expect(integers.filter(({ format }) => format === "int64").length).toBeGreaterThan(50);
    const wide = operations().flatMap(([, , { parameters = [] }]) =>
      parameters.filter(({ name }) => name === "min_sequence"),
    );
    expect(new Set(wide.map(({ schema }) => schema.format))).toEqual(new Set(["int64"]));
  });

  test("says which texts a parameter accepts: refused texts do not match its schema", async () => {
    const asked = operations()
      .filter(([method, path]) => method === "get" && path.startsWith("/v1") && !path.includes("{"))
      .flatMap(([, path, { parameters = [] }]) =>
        parameters
          .filter((each) => each.in === "query")
          .map(({ name, schema }) => ({ path, name, schema: schema.items ?? schema })),
      )
      // No pattern can describe words, times and cursors, and an enumeration describes itself.
      .filter(
        ({ name, schema }) => schema.type === "string" && name !== "q" && !schema.format && !schema.enum,
      );
    for (const { path, name, schema } of asked)
      for (const value of name === "cursor" ? [""] : ["", "no name", "some_name"]) {
        const answer = await service.call(`${path}?${new URLSearchParams({ [name]: value })}`);
        const errors: readonly { readonly path: string }[] = answer.json?.errors ?? [];
        const isTaken = errors.every((error) => error.path !== `query:${name}`);
        expect([path, name, value, isTaken]).toEqual([
          path,
          name,
          value,
          Value.Check(Type.String(schema), value),
        ]);
      }
    expect(asked.length).toBeGreaterThan(50);
  });

  test("says which texts a body accepts: refused texts do not match its schema", async () => {
    const values = ["", "no name", "some_name", "x".repeat(300), "2031-01-01T00:00:00Z"];
    const asked: string[] = [];
    // In another test the example is an event of the admin key's tenant.
    const key = await service.makeKey("texts", ["events:write"]);
    for (const [method, path, { requestBody }] of operations()) {
      const { schema, example } = requestBody?.content["application/json"] ?? {};
      // The sandbox's events are the same as those of production.
      if (!isBodySchema(schema) || path === "/v1/sandbox/events") continue;
      for (const [name, member] of Object.entries(schema.properties)) {
        if (member.type !== "string" || member.format || member.enum) continue;
        asked.push(`${path} ${name}`);
        for (const value of values) {
          const body = { ...Object(example), [name]: value };
          const options = { method: method.toUpperCase(), body, ...(path === "/v1/events" && { key }) };
          const answer = await service.call(path, options);
          const errors: readonly { readonly path: string }[] = answer.json?.errors ?? [];
          const isTaken = errors.every((error) => error.path !== `/${name}`);
          const isOne = Value.Check(Type.String(member), value);
          expect([path, name, value, isTaken]).toEqual([path, name, value, isOne]);
        }
      }
    }
    expect(asked).toContain("/v1/keys expires_at");
    expect(asked).toContain("/v1/holds correlation_id");
    expect(asked.length).toBeGreaterThan(15);
  });

  test("says which numbers a parameter accepts: numbers outside the bounds are refused with its name", async () => {
    const asked: string[] = [];
    for (const [method, path, { parameters = [] }] of operations())
      for (const { name, in: place, schema } of parameters) {
        if (schema.type !== "integer" || place === "path") continue;
        const { minimum = Number.NaN, maximum = Number.NaN } = schema;
        const isBounded = Number.isSafeInteger(minimum) && Number.isSafeInteger(maximum);
        asked.push(`${method} ${path} ${name}`);
        expect([path, name, isBounded]).toEqual([path, name, true]);
        for (const value of [minimum - 1, maximum + 1]) {
          const filled = path.replaceAll(/\{\w+\}/g, "unknown");
          const answer = await (place === "header"
            ? service.call(filled, { method, headers: { [name]: String(value) } })
            : service.call(`${filled}?${name}=${value}`, { method }));
          const errors: readonly { readonly path: string }[] = answer.json?.errors ?? [];
          expect([path, name, value, answer.status, errors.map((error) => error.path)]).toEqual([
            path,
            name,
            value,
            400,
            expect.arrayContaining([`${place}:${name}`]),
          ]);
        }
      }
    expect(asked.length).toBeGreaterThan(40);
  });

  test("is OpenAPI 3.0: it has no keyword that only JSON Schema has", () => {
    for (const word of [
      '"const":',
      '"patternProperties":',
      '"type":"null"',
      '"x-expects"',
      '"x-prefixes"',
      '"examples":[',
    ]) {
      expect([word, documentText.includes(word)]).toEqual([word, false]);
    }
  });

  test("uses nullable only beside a type, as OpenAPI 3.0.3 does: validators refuse a schema with nullable alone", () => {
    const alone: unknown[] = [];
    let said = 0;
    JSON.parse(documentText, (_name, value) => {
      if (value?.nullable !== true) return value;
      said++;
      if (value.type === undefined || (value.enum && !value.enum.includes(null))) alone.push(value);
      return value;
    });
    expect(alone).toEqual([]);
    expect(said).toBeGreaterThan(100);
  });

  test("lists exactly the accepted event types and the required members", () => {
    const schema = paths["/v1/events"]?.post?.requestBody?.content["application/json"]?.schema;
    expect(schema).toMatchObject({
      properties: { event_type: { enum: [...EVENT_TYPES] } },
      required: ["event_id", "timestamp", "asset_id", "event_type"],
    });
  });

  test("lists 410 only if an event can have expired, not for lists, which omit expired events", () => {
    const gone = operations()
      .filter(([, , { responses }]) => responses["410"]?.description.includes("event_expired"))
      .map(([, path]) => path);
    expect(gone).toEqual(["/v1/events/{event_id}", "/v1/events/{event_id}/proof"]);
  });

  test("describes partial tiles so that a client built from it can fetch them", async () => {
    const key = await service.makeKey("tiles");
    await service.call("/v1/events", { key, body: event() });
    const path = "/v1/log/tile/{level}/{number}/{width}";
    const { parameters = [] } = paths[path]?.get ?? {};
    const values: Readonly<Record<string, string>> = { level: "0", number: "000.p", width: "1" };
    const number = parameters.find(({ name }) => name === "number")?.schema;
    expect(number).toEqual({ type: "string", pattern: "^[0-9]{3}\\.p$" });
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
    const answer = await until("the tile is there", async () => {
      const read = await service.call(filled, { key });
      return read.status === 200 && read;
    });
    expect(answer.headers.get("content-length")).toBe("32");
  });

  test("lists every limit of a body and an event", () => {
    for (const [method, path, { requestBody, parameters = [] }] of operations()) {
      if (!requestBody) continue;
      const bytes = BODY_BYTES_MAX.get(path) ?? OBJECT_BODY_BYTES_MAX;
      for (const said of ["gzip or zstd", `${bytes} bytes`, "complete within 30 s"])
        expect([method, path, requestBody.description]).toEqual([
          method,
          path,
          expect.stringContaining(said),
        ]);
      expect(parameters).toContainEqual(
        expect.objectContaining({
          name: "Content-Encoding",
          schema: { type: "string", enum: ["gzip", "zstd"] },
        }),
      );
    }
    expect(JSON.stringify(paths["/v1/events"]?.post?.requestBody)).toContain("262144 bytes and 64 levels");
    expect(documentText).toContain("is not complete within 10 s, or when nothing arrives for 45 s");
    expect(documentText).toContain("Send one request at a time per connection");
    expect(documentText).toContain("No trailer fields may follow a chunked body");
    // Of two simultaneous requests for keys, the first made one and was not answered.
    expect(documentText).toContain("but a key that nobody has seen may exist");
    for (const path of ["/v1/events", "/v1/assets/{asset_id}/timeline", "/v1/export"])
      expect(JSON.stringify(paths[path]?.get?.parameters)).toContain("the first 64 different names");
  });

  test("says how large an answer may be, and how many may run at once", () => {
    for (const [where, said] of [
      ["get /v1/activity", "10000, beyond that 400"],
      ["get /v1/reconciliation", "At most 744 hours"],
      ["get /v1/events/stream", "A key may have 32 streams open at once, a tenant 128"],
      ["get /v1/export", "A key may have 4 exports running at once, a tenant 8"],
      ["get /v1/evidence", "At most 100000 records, 512 MiB in all. A key may have 4 exports"],
      ["post /v1/holds", "at most 1000 unreleased holds"],
    ] as const) {
      const found = operations().find(([method, path]) => `${method} ${path}` === where);
      expect([where, found?.[2].description]).toEqual([where, expect.stringContaining(said)]);
    }
  });

  test("lists the accepted event_ids, including those that the operator admits", async () => {
    await using admitting = await startTestService({ EXTRA_EVENT_ID_PREFIXES: "obj_,rev_" });
    const patternOf = async (asked: TestService, path: string): Promise<RegExp> => {
      const { json } = await asked.call("/docs/json", { key: null });
      const { schema } = json.paths[path].post.requestBody.content["application/json"];
      expect(schema.properties.event_id.description).toContain("a UUIDv7, or");
      return new RegExp(schema.properties.event_id.pattern, "u");
    };
    for (const path of ["/v1/events", "/v1/sandbox/events"]) {
      const [plain, extended] = [await patternOf(service, path), await patternOf(admitting, path)];
      for (const [id, isPlain, isExtended] of [
        ["019dd0a2-5f5e-7b1c-8b7e-2f1f0f6b9a10", true, true],
        ["evt_1", true, true],
        ["obj_1", false, true],
        ["rev_1", false, true],
        ["abc_1", false, false],
      ] as const)
        expect([id, plain.test(id), extended.test(id)]).toEqual([id, isPlain, isExtended]);
    }
  });

  test("shows working requests: each example is accepted as printed", async () => {
    for (const path of ["/v1/events", "/v1/events/batch", "/v1/keys"]) {
      const example = paths[path]?.post?.requestBody?.content["application/json"]?.example;
      const answer = await service.call(path, { body: JSON.stringify(example) });
      expect([path, answer.status]).toEqual([path, path === "/v1/keys" ? 201 : 202]);
    }
  });

  test("shows one log that verifies: event, receipt, proof, key and tree heads match", () => {
    const sent = paths["/v1/events"]?.post?.requestBody?.content["application/json"]?.example;
    const example = (
      path: string,
      mediaType = "application/json",
      method = "get",
      status = "200",
    ): Answer["json"] => paths[path]?.[method]?.responses[status]?.content?.[mediaType]?.example;
    const text = (path: string): string => String(example(path, "text/plain"));
    const receipt = example("/v1/events", "application/json", "post", "202").data;
    const proof = example("/v1/events/{event_id}/proof").data;
    const consistency = example("/v1/log/consistency").data;
    const bytes = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, "base64"));
    const leaf = bytes(proof.leaf);
    expect(decodeRecord(leaf)).toMatchObject({
      receivedAt: receipt.received_at,
      eventText: JSON.stringify(sent),
    });
    expect([proof.leaf_hash, receipt.leaf_hash]).toEqual(Array(2).fill(leafHash(leaf).toBase64()));
    const verifier = parseVerifierKey(text("/v1/log/key").trimEnd());
    const asked = { origin: "prooftrail/acme", verifiers: verifier ? [verifier] : [] };
    const opened = openCheckpoint(text("/v1/log/checkpoint"), asked);
    expect(opened).toMatchObject({ kind: "opened", checkpoint: { size: consistency.from } });
    if (opened.kind === "failed") return;
    const { root, size } = opened.checkpoint;
    const inclusionProof = proof.inclusion_proof.map(bytes);
    expect(proof.checkpoint).toBe(text("/v1/log/checkpoint"));
    expect(
      verifyInclusion({ leaf: leafHash(leaf), index: proof.leaf_index, size, proof: inclusionProof, root }),
    ).toBe(true);
    const file = text("/v1/events/{event_id}/proof");
    expect(parseTlogProof(file)?.extra).toEqual(leaf);
    expect(verifyTlogProof({ proof: file, leaf: leafHash(leaf), ...asked }).kind).toBe("verified");
    const { from, to, from_root, to_root, proof: hashes } = consistency;
    const roots = { fromRoot: bytes(from_root), toRoot: bytes(to_root) };
    expect(roots.fromRoot).toEqual(root);
    expect(verifyConsistency({ from, to, ...roots, proof: hashes.map(bytes) })).toBe(true);
  });
});

describeInBrowser("the page at /docs, in a browser without a network", () => {
  // On a phone, dark, with every form open, and what axe-core finds: test/slow/docs-page.slow.ts.
  test("shows every operation, contacts no other origin, reports no error, and sends tags as they are read", async () => {
    await using browser = await startBrowser({ origin: service.url, width: 1280 });
    const { page, complaints } = await openPage(browser, `${service.url}/docs`);
    await page.waitForSelector(".opblock");
    const shown = await page.$$eval(".opblock-summary", (blocks) =>
      blocks.map((block) => (block.textContent ?? "").replace(/[\u200b\s]/g, "")),
    );
    for (const [method, path, { summary }] of operations()) {
      const text = `${method.toUpperCase()}${path}${summary.replace(/\s/g, "")}`;
      expect(shown.some((block) => block.startsWith(text))).toBe(true);
    }
    expect(shown).toHaveLength(operations().length);
    expect(browser.foreignRequests).toEqual([]);
    expect(complaints).toEqual([]);

    // Without a key it is refused, and the browser reports that: only what was sent counts.
    const search = page.locator("#operations-Reading-searchEvents");
    await search.locator(".opblock-summary-control").click();
    await search.getByRole("button", { name: "Try it out" }).click();
    const sentTags = async (): Promise<readonly string[]> => {
      const sending = page.waitForRequest((request) => request.url().includes("/v1/events?"));
      await search.getByRole("button", { name: "Execute" }).click();
      const sent = new URL((await sending).url());
      expect((await service.call(sent.pathname + sent.search)).status).toBe(200);
      return [...sent.searchParams].map(String).filter((parameter) => parameter.includes("tag"));
    };
    expect(await sentTags()).toEqual([]);
    const tags = search.locator('tr[data-param-name="tags"] textarea');
    await tags.fill('{"tag.team":"credit","tag.<key>":"a b"}');
    expect(await sentTags()).toEqual(["tag.team,credit", "tag.<key>,a b"]);
  });
});
