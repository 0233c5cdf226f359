/** A client reads its own writes: every read of views or of the tree waits for the given sequence. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseVerifierKey } from "../../src/proof/signed-note.ts";
import { openCheckpoint } from "../../src/proof/tlog-checkpoint.ts";
import { operationsOf } from "../support/operations.ts";
import { event, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let gets: readonly { readonly path: string; readonly takesIt: boolean; readonly text: string }[] = [];

const asking = (path: string, sequence: number | string): string =>
  `${path}${path.includes("?") ? "&" : "?"}min_sequence=${sequence}`;

beforeAll(async () => {
  service = await startTestService({ CHECKPOINT_INTERVAL: "300ms" });
  gets = (await operationsOf(service))
    .filter(({ name }) => name.startsWith("GET /v1/"))
    .map(({ path, parameters, text }) => ({ path, text, takesIt: parameters.includes("min_sequence") }));
});
afterAll(() => service[Symbol.asyncDispose]());

const post = async (id: string): Promise<number> => {
  const body = event({ event_id: id, correlation_id: "case-1", metadata: { decision_id: "dec_1" } });
  return (await service.call("/v1/events", { body })).json.data.sequence;
};

describe("min_sequence", () => {
  test("is accepted by every read except those that read neither views nor the tree", () => {
    expect(gets.flatMap(({ path, takesIt }) => (takesIt ? [] : path)).sort()).toEqual([
      "/v1/calendars",
      "/v1/holds",
      "/v1/keys",
      "/v1/retention",
      "/v1/sandbox/assets",
      "/v1/sandbox/decisions/dec_1",
      "/v1/sandbox/events",
      "/v1/sandbox/events/evt_1/proof",
      "/v1/sandbox/ping",
      "/v1/session",
      "/v1/vocabulary",
    ]);
  });

  test("waits for what was just acknowledged", async () => {
    const sequence = await post("evt_1");
    const answers = await Promise.all(
      gets
        .filter(({ takesIt }) => takesIt)
        .map(async ({ path }) => {
          const { status } = await service.call(asking(path, sequence));
          return { path, status };
        }),
    );
    expect(answers).toEqual(answers.map(({ path }) => ({ path, status: 200 })));
  });

  // Both wait five seconds.
  test.concurrent("gets not_sealed from a tree head that nobody signs, and from a proof by it", async () => {
    await using unsigned = await startTestService({ ROLES: "api,projector" });
    const { json } = await unsigned.call("/v1/events", { body: event() });
    const startedAt = performance.now();
    const [head, proof] = await Promise.all(
      ["/v1/log/checkpoint", "/v1/events/evt_1/proof"].map((path) =>
        unsigned.call(asking(path, json.data.sequence), { isOnce: true }),
      ),
    );
    expect([head?.status, head?.json.code, head?.json.detail]).toEqual([
      503,
      "not_sealed",
      expect.stringContaining("`min_sequence`"),
    ]);
    expect([proof?.status, proof?.json.code]).toEqual([503, "not_sealed"]);
    expect(performance.now() - startedAt).toBeGreaterThan(4900);
    expect((await unsigned.call("/v1/log/checkpoint")).json.code).toBe("not_found");
    expect((await unsigned.call("/v1/log/checkpoint?min_sequence=0")).json.code).toBe("not_found");
  });

  test.concurrent("gets view_behind if it is not reached, as the document says, and is refused if it is invalid", async () => {
    const taking = gets.filter(({ takesIt }) => takesIt);
    await Promise.all(
      taking.map(async ({ path, text }) => {
        for (const wrong of ["", "-1", "x"]) {
          const { status, json } = await service.call(asking(path, wrong));
          expect([path, status, json.errors[0].path]).toEqual([path, 400, "query:min_sequence"]);
        }
        if (path === "/v1/log/key") return;
        const startedAt = performance.now();
        const { status, json, headers } = await service.call(asking(path, 999_999), { isOnce: true });
        expect([path, status, json?.code, headers.get("retry-after")]).toEqual([
          path,
          503,
          "view_behind",
          "1",
        ]);
        expect(performance.now() - startedAt).toBeGreaterThan(4900);
        expect([path, text]).toEqual([path, expect.stringContaining("`view_behind`")]);
      }),
    );
  });
});

describe("a tree head requested with min_sequence", () => {
  const sizeOf = async (path: string): Promise<number> => {
    const { text } = await service.call(path);
    const opened = openCheckpoint(text, { origin: "prooftrail/default", verifiers: await verifiers() });
    if (opened.kind === "failed") throw new Error(opened.reason);
    return opened.checkpoint.size;
  };
  const verifiers = async () =>
    (await service.call("/v1/log/key")).text
      .trimEnd()
      .split("\n")
      .flatMap((line) => parseVerifierKey(line) ?? []);

  test("includes the record, even if it is signed only some time later", async () => {
    for (let round = 0; round < 3; round++) {
      const before = await sizeOf("/v1/log/checkpoint");
      const sequence = await post(`evt_head_${round}`);
      expect(await sizeOf(`/v1/log/checkpoint?min_sequence=${sequence}`)).toBe(before + 1);
    }
    const before = await sizeOf("/v1/log/checkpoint");
    const sequence = await post("evt_consistency");
    const { json } = await service.call(`/v1/log/consistency?from=${before}&min_sequence=${sequence}`);
    expect(json.data).toMatchObject({ from: before, to: before + 1 });
  });
});
