/** The whole service in this process: its own broker and folder, and a free port; removed when disposed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/service/config.ts";
import { type Service, startService } from "../../src/service/service.ts";
import type { LogFields, Logger } from "../../src/telemetry/logger.ts";
import { testBrokerBinary } from "./broker.ts";
import { WAIT_MS_MAX } from "./time-limits.ts";

export interface LogLine extends LogFields {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
}

export interface TestService extends AsyncDisposable {
  readonly service: Service;
  readonly url: string;
  readonly dataDir: string;
  readonly adminKey: string;
  /** What the program printed. */
  readonly lines: readonly LogLine[];
  /** Requests `path` with the admin key, or with the given one; `null` for none. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** A key of this tenant. */
  makeKey(tenant: string, scopes?: readonly string[]): Promise<string>;
}

export interface CallOptions {
  readonly method?: string;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent unchanged; an object is sent as JSON. */
  readonly body?: string | Uint8Array<ArrayBuffer> | object;
  /** Asks once, also if the views or the tree are behind `min_sequence`. */
  readonly isOnce?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
}

export const ADMIN_KEY = "admin-key-of-the-tests";

export const startTestService = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<TestService> => {
  const dataDir = environment.DATA_DIR ?? (await mkdtemp(join(tmpdir(), "prooftrail-service-")));
  const read = readConfig({
    PORT: "0",
    DATA_DIR: dataDir,
    NATS_SERVER_BIN: await testBrokerBinary(),
    ADMIN_API_KEY: ADMIN_KEY,
    ...environment,
  });
  if (read.kind === "invalid") throw new Error(read.errors.join("\n"));
  const lines: LogLine[] = [];
  const service = await startService({
    config: read.config,
    logger: collectingLogger(lines),
    version: "0.0.0-test",
  });
  const url = service.url ?? "";
  const call = createCaller(url, ADMIN_KEY);
  return {
    service,
    url,
    dataDir,
    adminKey: ADMIN_KEY,
    lines,
    call,
    makeKey: async (tenant, scopes = ["events:write", "events:read"]) => {
      const answer = await call("/v1/keys", { body: { tenant, scopes } });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.json.data.api_key;
    },
    [Symbol.asyncDispose]: async () => {
      await service.stop();
      if (environment.DATA_DIR === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
};

/** A request waits up to 5 s for its `min_sequence`; on a busy machine views need longer, so it is asked again. */
export const createCaller =
  (url: string, defaultKey: string): TestService["call"] =>
  async (path, options = {}) => {
    const beganAt = performance.now();
    const isPatient = path.includes("min_sequence=") && options.isOnce !== true;
    for (;;) {
      const answer = await callOnce(url, defaultKey)(path, options);
      const isBehind = answer.status === 503 && ["view_behind", "not_sealed"].includes(answer.json?.code);
      if (!(isPatient && isBehind) || performance.now() - beganAt > WAIT_MS_MAX) return answer;
    }
  };

const callOnce =
  (url: string, defaultKey: string): TestService["call"] =>
  async (path, { method, key = defaultKey, headers = {}, body } = {}) => {
    const isRaw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(url + path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    });
    const mediaType = response.headers.get("content-type") ?? "";
    // A live stream has no end to wait for.
    if (mediaType === "text/event-stream") await response.body?.cancel();
    const text = mediaType === "text/event-stream" ? "" : await response.text();
    const isJson = /[/+]json/.test(mediaType) && text !== "";
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  };

const collectingLogger = (lines: LogLine[]): Logger => {
  const collect = (level: LogLine["level"]) => (message: string, fields?: LogFields) => {
    lines.push({ ...fields, level, message });
  };
  return {
    isEnabled: () => true,
    request: (fields) => lines.push({ ...fields, level: "info", message: "request" }),
    debug: collect("debug"),
    info: collect("info"),
    warn: collect("warn"),
    error: collect("error"),
  };
};

/** A valid event; the given members replace its own. */
export const event = (members: Readonly<Record<string, unknown>> = {}) => ({
  event_id: "evt_1",
  timestamp: "2026-11-20T10:00:00Z",
  asset_id: "credit_model",
  event_type: "decision.automated_decision_made",
  ...members,
});

/** The type of `event`. */
export const MADE = "decision.automated_decision_made";

/** An event by its id and type, with what its metadata says. */
export const fact = (event_id: string, event_type: string, metadata?: object, members: object = {}) =>
  event({ event_id, event_type, ...(metadata && { metadata }), ...members });
