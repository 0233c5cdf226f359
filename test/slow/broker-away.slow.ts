/** Reads while the broker does not answer, and after its connection was lost: reads that need it answer 503, views go on, and nothing is logged as an error. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { READINESS_LOG_MS_MAX } from "../../src/limits.ts";
import { settingsFor, startTestBroker, type TestBroker } from "../support/broker.ts";
import { type Operation, operationsOf } from "../support/operations.ts";
import { standStill } from "../support/process.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let broker: TestBroker;
let service: TestService;
let paths: readonly string[] = [];
let reads: readonly Operation[] = [];

/** The paths that need the broker, not only the views. */
const ASKING: readonly string[] = [
  "/v1/events/evt_1/proof",
  "/v1/events/stream",
  "/v1/evidence",
  "/v1/evidence/preview",
  "/v1/export",
  "/v1/holds",
  "/v1/log/checkpoint",
  "/v1/log/consistency?from=0",
  "/v1/log/key",
  "/v1/reconciliation",
  "/v1/retention",
  "/v1/retention/expiring",
  "/v1/sandbox/decisions/dec_1",
  "/v1/sandbox/events",
  "/v1/sandbox/events/evt_1/proof",
];

beforeAll(async () => {
  broker = await startTestBroker();
  service = await startTestService({
    ...settingsFor(broker),
    CHECKPOINT_INTERVAL: "50ms",
    TRUST_PROXY: "1",
  });
  reads = (await operationsOf(service)).filter(({ name }) => name.startsWith("GET /v1/"));
  paths = reads.map(({ path }) => path);
  const body = event({ correlation_id: "case-1", metadata: { decision_id: "dec_1" } });
  await service.call("/v1/events", { body });
  await service.call("/v1/sandbox/events", { body });
  await until("it is sealed and all reads answer", async () => {
    const answers = await Promise.all(paths.map(read));
    return answers.every(({ status }) => status === 200);
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
});

/** Each request to the sandbox comes from another client, so that none reaches its limit. */
let clients = 0;
const read = (path: string) =>
  service.call(path, { headers: { "x-forwarded-for": `10.${clients >> 8}.${clients++ & 255}.1` } });

const expectUnavailable = async (): Promise<void> => {
  const answers = await Promise.all(paths.map(async (path) => ({ path, answer: await read(path) })));
  const told = answers.map(({ path, answer }) => [path, answer.status, answer.json?.code]);
  expect(told).toEqual(
    paths.map((path) => (ASKING.includes(path) ? [path, 503, "log_unavailable"] : [path, 200, undefined])),
  );
  // A reader that was cut off goes on: the view holds the events.
  expect((await service.call("/v1/events/stream?after=1")).status).toBe(200);
  expect((await service.call("/v1/events/stream?after=999999")).json.code).toBe("log_unavailable");
  for (const { path, answer } of answers.filter(({ answer }) => answer.status === 503)) {
    expect([path, answer.headers.get("retry-after")]).toEqual([path, "1"]);
    expect([path, answer.json.detail]).toEqual([path, expect.not.stringContaining("127.0.0.1")]);
  }
  // Errors of requests only. A broker that is shutting down when we reconnect leaves the streams unchecked, which also logs an error line.
  const failed = service.lines.filter(
    ({ level, request_id }) => level === "error" && request_id !== undefined,
  );
  expect(failed).toEqual([]);
};

describe("every GET", () => {
  test("is tested here, and the document lists the 503 of each path that needs the broker", async () => {
    expect(paths.filter((path) => ASKING.includes(path)).sort()).toEqual([...ASKING]);
    for (const { path, text } of reads.filter((each) => ASKING.includes(each.path)))
      expect([path, text]).toEqual([path, expect.stringContaining("`log_unavailable`")]);
  });

  test("answers while the broker is paused", async () => {
    await standStill(broker.pid);
    // A load balancer waits one second. The connection does not count as lost yet: the only sign is the missing answer.
    expect(READINESS_LOG_MS_MAX).toBeLessThan(1000);
    const patient = service.call("/health/ready");
    const brief = service.call("/health/ready?without=views");
    const first = await Promise.race([patient.then(() => "patient"), brief.then(() => "brief")]);
    const { status, json } = await brief;
    expect([first, status, json.reasons]).toEqual([
      "brief",
      503,
      ["The log did not report its end in time."],
    ]);
    await expectUnavailable();
    expect((await patient).status).toBe(503);
  });

  test("answers after the connection was lost", async () => {
    process.kill(broker.pid, "SIGCONT");
    await broker.stop();
    await until("the loss is noticed", () =>
      service.lines.some(({ message }) => message === "lost the connection to the broker"),
    );
    await expectUnavailable();
  });
});

test("a policy cannot be set, and the answer says why", async () => {
  const answer = await service.call("/v1/retention", { method: "PUT", body: { maximum_days: 400 } });
  expect([answer.status, answer.json.detail]).toEqual([
    503,
    "Policies and holds could not be read: there is no connection. Retry.",
  ]);
});
