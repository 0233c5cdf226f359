/** Reads request bodies: checks type, coding, size, time and completeness before the content. */
import { Buffer } from "node:buffer";
import { setTimeout } from "node:timers";
import { MIMEType } from "node:util";
import { gunzip, zstdDecompress } from "node:zlib";
import pLimit from "p-limit";
import { createMemoryQuota, type MemoryQuota, type QuotaBounds } from "../../access/memory-quota.ts";
import { BODY_READ_WHOLE_BYTES_MAX } from "../../limits.ts";
import { createDeadline } from "../../runtime/deadline.ts";
import { type Refusal, refuse } from "./answers.ts";

export interface BodyText {
  readonly kind: "text";
  readonly text: string;
  /** Call it once the answer is known: until then the body counts as held. */
  readonly release: () => void;
}

export interface BodyReader {
  /** The whole body as text, decompressed. Reading stops at the limit, whatever the client announced. */
  read(
    request: Request,
    bounds: {
      readonly bytesMax: number;
      readonly holder: string;
      readonly isOptional?: boolean;
    },
  ): Promise<BodyText | Refusal>;
}

type Arrived = Uint8Array | Refusal;

/** Each may grow to the largest body before its size is known, in addition to what is held. */
const INFLATED_AT_ONCE = 4;

/** The bounds cover all bodies, both arriving and being processed. */
export const createBodyReader = (
  bounds: QuotaBounds & {
    readonly bodyMsMax: number;
    /** Called with the bytes of a large body that is no longer held. */
    readonly onLargeReleased?: (bytes: number) => void;
  },
): BodyReader => {
  const { bodyMsMax, onLargeReleased } = bounds;
  const quota = createMemoryQuota(bounds);
  const inflating = pLimit(INFLATED_AT_ONCE);
  const deadline = createDeadline(bodyMsMax);
  const late = timedOut(bodyMsMax);
  return {
    read: (request, { bytesMax, holder, isOptional = false }) => {
      const head = readHead(request.headers, bytesMax, isOptional);
      if (head.kind === "refused") return Promise.resolve(head);
      const { announced, coding, mistyped } = head;
      const held = hold(quota, holder, onLargeReleased);
      return new Promise((resolve) => {
        const finish = (body: Arrived): void => {
          const read = body instanceof Uint8Array ? textOf(body, mistyped, held) : body;
          if (read.kind === "refused") held.release();
          resolve(read);
        };
        const arrive = (body: Arrived): void => {
          met();
          if (coding === undefined || !(body instanceof Uint8Array)) finish(body);
          else void inflating(() => inflate(coding, body, bytesMax)).then(finish);
        };
        const met = deadline(() => finish(late));
        if (!(announced <= BODY_READ_WHOLE_BYTES_MAX))
          void readStream(request, { bytesMax, announced, held }).then(arrive);
        else if (held.grow(announced)) request.bytes().then(arrive, () => arrive(INCOMPLETE));
        else arrive(OVERLOADED);
      });
    },
  };
};

const hold = (quota: MemoryQuota, holder: string, onLargeReleased: ((bytes: number) => void) | undefined) => {
  let bytesHeld = 0;
  let isReleased = false;
  return {
    /** False if it does not fit, or nobody waits for the body any more. */
    grow: (bytes: number): boolean => {
      if (isReleased || !quota.take(holder, bytes - bytesHeld)) return false;
      bytesHeld = bytes;
      return true;
    },
    release: (): void => {
      if (isReleased) return;
      isReleased = true;
      quota.take(holder, -bytesHeld);
      if (bytesHeld >= LARGE_BYTES) onLargeReleased?.(bytesHeld);
    },
  };
};

const LARGE_BYTES = 2 * 1024 * 1024;

type Held = ReturnType<typeof hold>;

const decoder = new TextDecoder("utf-8", { fatal: true });
const INVALID_UTF8 = refuse("invalid_utf8");

/** RFC 8259 §8.1: a byte order mark is ignored. */
const textOf = (bytes: Uint8Array, mistyped: Refusal | undefined, held: Held): BodyText | Refusal => {
  if (mistyped && bytes.byteLength > 0) return mistyped;
  if (!held.grow(bytes.byteLength)) return OVERLOADED;
  try {
    return { kind: "text", text: decoder.decode(bytes), release: held.release };
  } catch {
    return INVALID_UTF8;
  }
};

/**
 * Counts from the first piece on: a client that sends nothing uses no share. Pieces are copied as they arrive,
 * because a kept piece of one byte takes a hundred (chunked coding, RFC 9112 §7.1, may cut a body anywhere).
 */
const readStream = async (
  request: Request,
  bounds: {
    readonly bytesMax: number;
    /** NaN if no length was announced. */
    readonly announced: number;
    readonly held: Held;
  },
): Promise<Arrived> => {
  const { bytesMax, announced, held } = bounds;
  let bytes = Buffer.allocUnsafeSlow(0);
  let length = 0;
  const reader = request.body?.getReader();
  /** Leaves the rest to `createRestDiscarder`, or cancels it, which is not awaited. */
  const leave = (refusal: Refusal): Refusal => {
    if (closesAfterAnswer(request)) reader?.releaseLock();
    else void reader?.cancel().catch(() => {});
    return refusal;
  };
  try {
    for (;;) {
      const piece = (await reader?.read())?.value;
      if (piece === undefined) break;
      const lengthNow = length + piece.byteLength;
      if (lengthNow > bytesMax) return leave(tooLarge(bytesMax));
      // All that is announced, so that one that will not fit is refused before MiBs of it arrive.
      if (!held.grow(Math.max(lengthNow, announced || 0))) return leave(OVERLOADED);
      if (lengthNow > bytes.byteLength) {
        // Pages of it are used only once something is written to them.
        const room = Number.isNaN(announced) ? Math.min(2 * bytes.byteLength, bytesMax) : announced;
        const larger = Buffer.allocUnsafeSlow(Math.max(lengthNow, room));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(piece, length);
      length = lengthNow;
    }
  } catch {
    return INCOMPLETE;
  }
  return bytes.subarray(0, length);
};

interface DiscardBounds {
  readonly bytesMax: number;
  readonly msMax: number;
  /** Bodies at the same time: a fast sender has some MiB in the process. */
  readonly atOnceMax: number;
}

/**
 * Reads and discards the rest of a refused body, so that a client that sends everything before it reads gets the answer instead of a
 * broken pipe (RFC 9112 §9.6). Call it before answering, because Bun closes the connection with the answer, whatever still arrives. Bun
 * reads the rest itself where the connection stays open (both measured on 1.4.5). Past a bound the answer is given at once.
 */
export const createRestDiscarder = ({ bytesMax, msMax, atOnceMax }: DiscardBounds) => {
  let running = 0;
  return async (request: Request): Promise<void> => {
    const { body, headers } = request;
    if (body === null || body.locked || !closesAfterAnswer(request) || running >= atOnceMax) return;
    // However much of a longer one is read, its sender finds the connection closed.
    if (Number(headers.get("content-length") ?? 0) > bytesMax) return;
    running++;
    const reader = body.getReader();
    const giveUp = (): void => void reader.cancel().catch(() => {});
    const timer = setTimeout(giveUp, msMax);
    try {
      for (let bytesLeft = bytesMax; bytesLeft >= 0; ) {
        const piece = (await reader.read()).value;
        if (piece === undefined) break;
        bytesLeft -= piece.byteLength;
      }
    } catch {}
    clearTimeout(timer);
    giveUp();
    running--;
  };
};

/** Whether the client wants its connection closed after the answer (RFC 9112 §9.6). */
const closesAfterAnswer = ({ headers }: Request): boolean => CLOSE.test(headers.get("connection") ?? "");

const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

/** RFC 9110 §8.4, RFC 1952, RFC 8878. */
const CODINGS: Readonly<Record<Coding, Inflate>> = { gzip: gunzip, "x-gzip": gunzip, zstd: zstdDecompress };
type Coding = "gzip" | "x-gzip" | "zstd";
type Inflate = (
  compressed: Uint8Array,
  options: { readonly maxOutputLength: number; readonly info: boolean },
  finish: (error: Error | null, result: unknown) => void,
) => void;

/** For the header Accept-Encoding of a refusal (RFC 7694 §3), and for the documentation. */
export const CODINGS_ACCEPTED = ["gzip", "zstd"] as const;

const isCoding = (name: string): name is Coding => Object.hasOwn(CODINGS, name);

const inflate = (coding: Coding, compressed: Uint8Array, bytesMax: number): Promise<Arrived> =>
  new Promise((resolve) => {
    // `info` gives how much input was read; `maxOutputLength` stops a bomb at the limit.
    CODINGS[coding](compressed, { maxOutputLength: bytesMax, info: true }, (error, result) => {
      const isTooLarge = error !== null && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
      const bytes = error === null ? wholeOutput(result, compressed.byteLength) : undefined;
      // A truncated zstd frame gives what it has, without an error (measured on Bun and Deno). Its JSON is then truncated too.
      if (bytes !== undefined && bytes.byteLength > 0) resolve(bytes);
      else resolve(isTooLarge ? tooLarge(bytesMax) : CORRUPT);
    });
  });

/** The types of node:zlib lack the result of `info`: `{ buffer, engine: { bytesWritten } }`. */
const wholeOutput = (result: unknown, inputBytes: number): Uint8Array | undefined => {
  const { buffer, engine }: { buffer?: unknown; engine?: { bytesWritten?: unknown } } = Object(result);
  return engine?.bytesWritten === inputBytes && buffer instanceof Uint8Array ? buffer : undefined;
};

interface Head {
  readonly kind: "head";
  /** NaN if no length was announced. */
  readonly announced: number;
  readonly coding: Coding | undefined;
  /** The refusal of an optional body with another type. */
  readonly mistyped: Refusal | undefined;
}

const readHead = (headers: Headers, bytesMax: number, isOptional: boolean): Head | Refusal => {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  const announced = Number(headers.get("content-length") ?? Number.NaN);
  const mistyped = typeRefusal(headers);
  const mayBeEmpty = isOptional && !(announced > 0);
  if (mistyped && !mayBeEmpty) return mistyped;
  if (coding !== "identity" && !isCoding(coding)) return UNKNOWN_CODING;
  if (Number.isNaN(announced) && headers.has("trailer")) return WITH_TRAILER;
  if (announced > bytesMax) return tooLarge(bytesMax);
  return { kind: "head", announced, coding: isCoding(coding) ? coding : undefined, mistyped };
};

const typeRefusal = (headers: Headers): Refusal | undefined => {
  const type = headers.get("content-type");
  if (type === "application/json" || (type !== null && isJsonInUtf8(type))) return undefined;
  return refuse(
    "unsupported_media_type",
    type === null
      ? "Send the header Content-Type: application/json."
      : "Send Content-Type: application/json, in UTF-8.",
  );
};

const ACCEPT_ENCODING = CODINGS_ACCEPTED.join(", ");

const UNKNOWN_CODING = refuse("unsupported_media_type", {
  detail: `Send the body plain or in one of these codings: ${ACCEPT_ENCODING}.`,
  headers: { "accept-encoding": ACCEPT_ENCODING },
});

const OVERLOADED = refuse("overloaded", "Too many bodies are arriving at once. Nothing was stored.");

const invalid = (path: string, message: string, detail?: string): Refusal =>
  refuse("invalid_request", {
    ...(detail !== undefined && { detail }),
    errors: [{ path, code: "invalid_value", message }],
  });

/**
 * Bun takes the fields behind a chunked body for another request: it closes the connection with a bare 400, whatever the answer to this one
 * is (measured on 1.4.5). So nothing of such a request may be stored.
 */
const WITH_TRAILER = invalid("header:Trailer", "No fields may follow the body: send it without a trailer.");

const INCOMPLETE = invalid(
  "",
  "The body is not complete: send all of it.",
  "The body ended before it was complete.",
);

const CORRUPT = invalid(
  "header:Content-Encoding",
  `The body does not match this coding: send all of it in ${CODINGS_ACCEPTED.join(" or ")} and name that, or plain without the header.`,
  "The body does not match its Content-Encoding: it could not be fully decompressed.",
);

const tooLarge = (bytesMax: number): Refusal =>
  refuse("payload_too_large", `The body is larger than ${bytesMax} bytes.`);

const timedOut = (bodyMsMax: number): Refusal =>
  refuse("request_timeout", {
    detail: `The body was not complete after ${bodyMsMax} ms.`,
    headers: { connection: "close" },
  });

/** JSON defines no parameters (RFC 8259 §11), so any is ignored, except a charset other than UTF-8. `utf8` means the same (WHATWG Encoding §4.2). */
const isJsonInUtf8 = (type: string): boolean => {
  try {
    const { essence, params } = new MIMEType(type);
    return essence === "application/json" && /^utf-?8$/i.test(params.get("charset") ?? "utf-8");
  } catch {
    return false;
  }
};
