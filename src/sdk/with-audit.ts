/** Functions whose calls are recorded. The caller notices no difference. */
import { attempt, record } from "./described-event.ts";
import type { CaptureEvent, EventWithout } from "./event.ts";
import { sha256 } from "./hash.ts";
import type { LooseRecorder, Recorder } from "./recorder.ts";
import { isError, type JsonObject } from "./values.ts";
import { type StreamEnd, type Watcher, watchOutcome } from "./watch-outcome.ts";

type AnyCall = (...args: never[]) => unknown;

export interface EndedCall<Call extends AnyCall> {
  readonly args: Parameters<Call>;
  /** What the call returned, or what its promise resolved to. */
  readonly result: Awaited<ReturnType<Call>>;
  /** Time until then, or until the last item was read, in whole milliseconds. */
  readonly durationMs: number;
  /** How the iteration ended, if the result was iterated over asynchronously, such as a model's streamed answer. */
  readonly stream?: StreamEnd;
}

export interface FailedCall<Call extends AnyCall> {
  readonly args: Parameters<Call>;
  readonly error: unknown;
  readonly durationMs: number;
}

type DescribedEvent<Extra extends string> = EventWithout<CaptureEvent<Extra>, "asset_id">;

export interface AuditOptions<Call extends AnyCall, Extra extends string = never> {
  /** The asset of events that name no other. */
  readonly asset_id: string;
  /** Returns the event of a call, or undefined for none. Its `duration_ms` is filled in. If it throws, that is a dropped event. */
  readonly describe: (call: EndedCall<Call>) => DescribedEvent<Extra> | undefined;
  /** For a call that threw or was rejected; default: an `ai_inference`. The error's message is left out, because it often repeats input data. */
  readonly describeError?: (call: FailedCall<Call>) => DescribedEvent<Extra> | undefined;
}

/**
 * Returns `call` with each call recorded when it has ended; for its caller nothing changes. A result that is iterated over asynchronously is recorded
 * when the iteration ends. The end of one that nobody reads to its end, or in another way (`getReader`, `pipeTo`), is not seen.
 */
export function withAudit<Call extends AnyCall, Extra extends string = never>(
  recorder: Recorder<Extra>,
  call: Call,
  options: AuditOptions<Call, NoInfer<Extra>>,
): Call;
export function withAudit(recorder: LooseRecorder, call: AnyCall, options: LooseOptions): AnyCall {
  const { asset_id, describe, describeError = () => ({ event_type: "ai_inference" }) } = options;
  const ofAsset = recorder.with({ asset_id });
  const watcher = (args: readonly unknown[]): Watcher => {
    const startedMs = performance.now();
    let isRecorded = false;
    const recordOnce = (name: string, describeIt: (durationMs: number) => unknown, more: JsonObject) => {
      if (isRecorded) return;
      isRecorded = true;
      const duration_ms = Math.round(performance.now() - startedMs);
      record(
        ofAsset,
        attempt(name, () => describeIt(duration_ms)),
        { ...more, duration_ms },
      );
    };
    return {
      done: (result, stream) =>
        recordOnce(
          "describe",
          (durationMs) => describe({ args, result, durationMs, ...(stream && { stream }) }),
          {},
        ),
      failed: (error) => {
        const more = { error: true, ...withoutText(error) };
        recordOnce("describeError", (durationMs) => describeError({ args, error, durationMs }), more);
      },
    };
  };
  return new Proxy(call, {
    apply: (target, self, args) => {
      const watching = watcher(args);
      let outcome: unknown;
      try {
        outcome = Reflect.apply(target, self, args);
      } catch (error) {
        watching.failed(error);
        throw error;
      }
      return watchOutcome(outcome, watching);
    },
  });
}

interface LooseOptions {
  readonly asset_id: string;
  describe(call: {
    readonly args: readonly unknown[];
    readonly result: unknown;
    readonly durationMs: number;
    readonly stream?: StreamEnd;
  }): unknown;
  describeError?(call: {
    readonly args: readonly unknown[];
    readonly error: unknown;
    readonly durationMs: number;
  }): unknown;
}

/** The kind of an error and the hash of its message, by which equal errors are found. */
const withoutText = (error: unknown): JsonObject => {
  try {
    const { name: kind } =
      typeof error === "object" && error !== null ? error.constructor : { name: typeof error };
    const message = isError(error) ? error.message : error;
    return {
      error_type: kind,
      ...(typeof message === "string" && { error_message_hash: sha256(message) }),
    };
  } catch {
    return { error_type: typeof error };
  }
};
