/** Reads request bodies: checks type, coding, size, time and completeness before anybody looks at the content. */
import { Buffer } from "node:buffer";
import pLimit from "p-limit";
import { createSharedPot, type PotBounds } from "../../access/shared-pot.ts";
import { BODY_LOOKS, BODY_READ_WHOLE_BYTES_MAX } from "../../limits.ts";
import { CODINGS_ACCEPTED, decompress, isCoding } from "./decompress.ts";
import { INVALID_KEY } from "./guard.ts";
import { isJsonInUtf8 } from "./media-type.ts";
import type { ProblemCode, RequestError } from "./problem.ts";
import { closesAfterAnswer } from "./rest-of-body.ts";

export type Body =
  /** Call `release` when the bytes are no longer needed: until then they count as held. */
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly release: () => void }
  | {
      readonly kind: "refused";
      readonly code: Extract<
        ProblemCode,
        | "payload_too_large"
        | "unsupported_media_type"
        | "invalid_request"
        | "request_timeout"
        | "overloaded"
        | "invalid_api_key"
      >;
      readonly detail?: string;
      readonly errors?: readonly RequestError[];
      readonly headers?: Readonly<Record<string, string>>;
    };

export interface BodyReader extends Disposable {
  /** The whole body, decompressed. Reading stops at the limit, whatever the client announced. */
  read(
    request: Request,
    bounds: {
      readonly bytesMax: number;
      readonly holder: string;
      /** Called when the body has arrived: a slow sender's key may have ended meanwhile. */
      readonly isStillAllowed: () => boolean;
      /** The body may be left out, and then has no type. One without an announced length may turn out to be empty (RFC 9112 §7.1). */
      readonly isOptional?: boolean;
    },
  ): Promise<Body>;
}

/** Bounds on the bodies of all requests, both arriving and being processed. */
interface BodyBounds extends PotBounds {
  /** Time for one body to arrive. */
  readonly bodyMsMax: number;
}

export const createBodyReader = ({ bodyMsMax, ...bounds }: BodyBounds): BodyReader => {
  const deadline = createDeadline(bodyMsMax);
  const inTurn = pLimit(INFLATED_AT_ONCE);
  const pot = createSharedPot(bounds);
  return {
    [Symbol.dispose]: deadline.stop,
    read: (request, { bytesMax, holder, isStillAllowed, isOptional = false }) => {
      const { headers } = request;
      const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
      const announced = Number(headers.get("content-length") ?? Number.NaN);
      const mistyped = typeRefusal(headers);
      const mayBeEmpty = isOptional && !(announced > 0);
      const refusal = (mayBeEmpty ? undefined : mistyped) ?? codingRefusal(coding);
      if (refusal) return Promise.resolve(refusal);
      if (Number.isNaN(announced) && headers.has("trailer")) return Promise.resolve(WITH_TRAILER);
      if (announced > bytesMax) return Promise.resolve(tooLarge(bytesMax));
      let reserved = 0;
      let isGivenUp = false;
      /** False if it does not fit, or nobody waits for the body any more. */
      const reserve = (bytes: number): boolean => {
        if (isGivenUp || !pot.take(holder, bytes - reserved)) return false;
        reserved = bytes;
        return true;
      };
      const release = (): void => void reserve(0);
      const held = (body: Arrived): Body => {
        const typed = body.kind === "bytes" && body.bytes.byteLength > 0 ? (mistyped ?? body) : body;
        const kept = typed.kind === "refused" ? typed : keptOf(typed, isStillAllowed, reserve);
        if (kept.kind === "bytes") return { kind: "bytes", bytes: kept.bytes, release };
        release();
        isGivenUp = true;
        return kept;
      };
      const isWhole = announced <= BODY_READ_WHOLE_BYTES_MAX;
      if (isWhole && !reserve(announced)) return Promise.resolve(OVERLOADED);
      const arrive: Arrive = isWhole
        ? (finish) => readWhole(request, finish)
        : (finish) => void readStream(request, { bytesMax, announced, reserve }).then(finish);
      if (!isCoding(coding)) return deadline.meet(arrive, held);
      const inflate = async (bytes: Uint8Array): Promise<Arrived> =>
        toBody(await decompress(coding, bytes, bytesMax), bytesMax);
      return deadline
        .meet(arrive, (body) => body)
        .then((body) => (body.kind === "bytes" ? inTurn(inflate, body.bytes) : body))
        .then(held);
    },
  };
};

/** Each may grow to the largest body before its size is known, in addition to what is held. */
const INFLATED_AT_ONCE = 4;

type Refused = Extract<Body, { readonly kind: "refused" }>;
type Arrived = { readonly kind: "bytes"; readonly bytes: Uint8Array } | Refused;
/** Begins to read; calls `finish` once. */
type Arrive = (finish: (body: Arrived) => void) => void;

const OVERLOADED: Refused = {
  kind: "refused",
  code: "overloaded",
  detail: "Too many bodies are arriving at once. Nothing was stored.",
};

/**
 * Bun takes the fields behind a chunked body for another request: it closes the connection with a bare 400, whatever the answer to this one
 * is (measured on 1.4.5). So nothing of such a request may be stored.
 */
const WITH_TRAILER: Refused = {
  kind: "refused",
  code: "invalid_request",
  errors: [
    {
      path: "header:Trailer",
      code: "invalid_value",
      message: "No fields may follow the body: send it without a trailer.",
    },
  ],
};

const KEY_ENDED: Refused = { kind: "refused", ...INVALID_KEY };

const keptOf = (
  body: Exclude<Arrived, Refused>,
  isStillAllowed: () => boolean,
  reserve: (bytes: number) => boolean,
): Arrived => {
  if (!isStillAllowed()) return KEY_ENDED;
  return reserve(body.bytes.byteLength) ? body : OVERLOADED;
};

const tooLarge = (bytesMax: number): Refused => ({
  kind: "refused",
  code: "payload_too_large",
  detail: `The body is larger than ${bytesMax} bytes.`,
});

const incomplete = (): Refused => ({
  kind: "refused",
  code: "invalid_request",
  detail: "The body ended before it was complete.",
  errors: [{ path: "", code: "invalid_value", message: "The body is not complete: send all of it." }],
});

const toBody = (decompressed: Awaited<ReturnType<typeof decompress>>, bytesMax: number): Arrived => {
  if (decompressed.kind === "bytes") return decompressed;
  if (decompressed.kind === "too_large") return tooLarge(bytesMax);
  return {
    kind: "refused",
    code: "invalid_request",
    detail: "The body is not what its Content-Encoding says: it could not be decompressed to its end.",
    errors: [
      {
        path: "header:Content-Encoding",
        code: "invalid_value",
        message: `The body is not of this coding: send it whole in ${CODINGS_ACCEPTED.join(" or ")} and name that, or plain without the header.`,
      },
    ],
  };
};

const timedOut = (bodyMsMax: number): Refused => ({
  kind: "refused",
  code: "request_timeout",
  detail: `The body was not complete after ${bodyMsMax} ms.`,
  headers: { connection: "close" },
});

/** One timer for all bodies: a timer per request costs more than most bodies take to arrive. */
const createDeadline = (bodyMsMax: number) => {
  const waiting = new Set<{ readonly since: number; readonly finish: (body: Arrived) => void }>();
  const sweep = (): void => {
    const oldest = performance.now() - bodyMsMax;
    // In order of arrival, so the first one in time ends the search.
    for (const entry of waiting) {
      if (entry.since > oldest) return;
      entry.finish(timedOut(bodyMsMax));
    }
  };
  const timer = setInterval(sweep, bodyMsMax / BODY_LOOKS);
  /** The result of `settle`, for the body or for its timeout. `arrive` must not throw. */
  const meet = <Answer>(arrive: Arrive, settle: (body: Arrived) => Answer): Promise<Answer> =>
    new Promise((resolve) => {
      const finish = (body: Arrived): void => {
        if (waiting.delete(entry)) resolve(settle(body));
      };
      const entry = { since: performance.now(), finish };
      waiting.add(entry);
      arrive(finish);
    });
  return { meet, stop: () => clearInterval(timer) };
};

/** With as few promises as possible: every event comes this way. */
const readWhole = (request: Request, finish: (body: Arrived) => void): void =>
  void request.bytes().then(
    (bytes) => finish({ kind: "bytes", bytes }),
    () => finish(incomplete()),
  );

/**
 * Reserves what has arrived, not what was announced: a client that sends nothing uses nobody's share. Pieces are copied as they arrive,
 * because a kept piece of one byte takes a hundred (chunked coding, RFC 9112 §7.1, may cut a body anywhere).
 */
const readStream = async (
  request: Request,
  bounds: {
    readonly bytesMax: number;
    /** NaN if no length was announced. */
    readonly announced: number;
    readonly reserve: (bytes: number) => boolean;
  },
): Promise<Arrived> => {
  const { bytesMax, announced, reserve } = bounds;
  const bytesExpected = Number.isNaN(announced) ? bytesMax : announced;
  let bytes = Buffer.allocUnsafeSlow(0);
  let length = 0;
  const reader = request.body?.getReader();
  /** Leaves the rest to `createRestDiscarder`, or cancels it, which is not awaited: it tells nothing more. */
  const refuse = (refused: Refused): Refused => {
    if (closesAfterAnswer(request)) reader?.releaseLock();
    else void reader?.cancel().catch(() => {});
    return refused;
  };
  try {
    for (;;) {
      const piece = (await reader?.read())?.value;
      if (piece === undefined) break;
      const lengthNow = length + piece.byteLength;
      if (lengthNow > bytesMax) return refuse(tooLarge(bytesMax));
      if (!reserve(lengthNow)) return refuse(OVERLOADED);
      if (lengthNow > bytes.byteLength) {
        const larger = Buffer.allocUnsafeSlow(
          Math.max(lengthNow, Math.min(2 * bytes.byteLength, bytesExpected)),
        );
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(piece, length);
      length = lengthNow;
    }
  } catch {
    return incomplete();
  }
  return { kind: "bytes", bytes: bytes.subarray(0, length) };
};

const typeRefusal = (headers: Headers): Refused | undefined => {
  const type = headers.get("content-type");
  if (type === "application/json" || (type !== null && isJsonInUtf8(type))) return undefined;
  const detail =
    type === null
      ? "Send the header Content-Type: application/json."
      : "Send Content-Type: application/json, in UTF-8.";
  return { kind: "refused", code: "unsupported_media_type", detail };
};

const ACCEPT_ENCODING = CODINGS_ACCEPTED.join(", ");

const codingRefusal = (coding: string): Refused | undefined => {
  if (coding === "identity" || isCoding(coding)) return undefined;
  return {
    kind: "refused",
    code: "unsupported_media_type",
    detail: `Send the body plain, or in one of these codings: ${ACCEPT_ENCODING}.`,
    headers: { "accept-encoding": ACCEPT_ENCODING },
  };
};
