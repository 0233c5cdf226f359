/** Bytes in: type, coding, size, time and completeness, before anybody looks at the content. */
import { CODINGS_ACCEPTED, decompress, isCoding } from "./decompress.ts";
import { isJsonInUtf8 } from "./media-type.ts";
import type { ProblemCode } from "./problem.ts";

export type Body =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | {
      readonly kind: "refused";
      readonly code: Extract<
        ProblemCode,
        "payload_too_large" | "unsupported_media_type" | "invalid_request" | "request_timeout" | "overloaded"
      >;
      readonly detail: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export interface BodyReader extends Disposable {
  /** The whole body, decompressed, of at most `bytesMax` bytes. Reading stops at the limit, whatever the client announced. */
  read(request: Request, bytesMax: number): Promise<Body>;
}

export interface BodyBounds {
  /** Time for one body to arrive. */
  readonly bodyMsMax: number;
  /** Bytes of unfinished bodies over all requests. */
  readonly bytesHeldMax: number;
}

export const createBodyReader = ({ bodyMsMax, bytesHeldMax }: BodyBounds): BodyReader => {
  const deadline = createDeadline(bodyMsMax);
  let bytesHeld = 0;
  return {
    [Symbol.dispose]: deadline.stop,
    read: (request, bytesMax) => {
      const { headers } = request;
      const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
      const refusal = typeRefusal(headers) ?? codingRefusal(coding);
      if (refusal) return Promise.resolve(refusal);
      const announced = Number(headers.get("content-length") ?? Number.NaN);
      if (announced > bytesMax) return Promise.resolve(tooLarge(bytesMax));
      const reserved = announced >= 0 ? announced : bytesMax;
      if (bytesHeld + reserved > bytesHeldMax) return Promise.resolve(OVERLOADED);
      bytesHeld += reserved;
      const arriving = announced >= 0 ? readAnnounced(request) : readStream(request, bytesMax);
      const release = (): void => {
        bytesHeld -= reserved;
      };
      if (!isCoding(coding)) return deadline.meet(arriving, release);
      return deadline
        .meet(arriving, () => {})
        .then(async (body) => {
          const plain =
            body.kind === "bytes" ? toBody(await decompress(coding, body.bytes, bytesMax), bytesMax) : body;
          release();
          return plain;
        });
    },
  };
};

const OVERLOADED: Body = {
  kind: "refused",
  code: "overloaded",
  detail: "More bodies are arriving than can be held. Nothing was stored.",
};

const tooLarge = (bytesMax: number): Body => ({
  kind: "refused",
  code: "payload_too_large",
  detail: `The body is larger than ${bytesMax} bytes.`,
});

const incomplete = (): Body => ({
  kind: "refused",
  code: "invalid_request",
  detail: "The body ended before it was complete.",
});

const toBody = (decompressed: Awaited<ReturnType<typeof decompress>>, bytesMax: number): Body => {
  if (decompressed.kind === "bytes") return decompressed;
  if (decompressed.kind === "too_large") return tooLarge(bytesMax);
  return {
    kind: "refused",
    code: "invalid_request",
    detail: "The body is not what its Content-Encoding says: it could not be decompressed to its end.",
  };
};

const timedOut = (bodyMsMax: number): Body => ({
  kind: "refused",
  code: "request_timeout",
  detail: `The body was not complete after ${bodyMsMax} ms.`,
  headers: { connection: "close" },
});

/** One timer for all bodies, because a timer per request costs more than most bodies take to arrive. */
const createDeadline = (bodyMsMax: number) => {
  const waiting = new Set<{ readonly since: number; readonly finish: (body: Body) => void }>();
  const sweep = (): void => {
    const oldest = performance.now() - bodyMsMax;
    // In order of arrival, so the first one in time ends the search.
    for (const entry of waiting) {
      if (entry.since > oldest) return;
      entry.finish(timedOut(bodyMsMax));
    }
  };
  const timer = setInterval(sweep, bodyMsMax / 10);
  /** The body, or that its time is over. `done` is called once, at the end of either. `arriving` never rejects, nor does what is answered. */
  const meet = (arriving: Promise<Body>, done: () => void): Promise<Body> =>
    new Promise((resolve) => {
      const finish = (body: Body): void => {
        if (!waiting.delete(entry)) return;
        done();
        resolve(body);
      };
      const entry = { since: performance.now(), finish };
      waiting.add(entry);
      void arriving.then(finish);
    });
  return { meet, stop: () => clearInterval(timer) };
};

const readAnnounced = (request: Request): Promise<Body> =>
  request.bytes().then((bytes) => ({ kind: "bytes", bytes }), incomplete);

const readStream = async (request: Request, bytesMax: number): Promise<Body> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of request.body ?? []) {
      length += chunk.byteLength;
      if (length > bytesMax) return tooLarge(bytesMax);
      chunks.push(chunk);
    }
  } catch {
    return incomplete();
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return { kind: "bytes", bytes };
};

const typeRefusal = (headers: Headers): Body | undefined => {
  const type = headers.get("content-type");
  if (type === "application/json" || (type !== null && isJsonInUtf8(type))) return undefined;
  const detail =
    type === null
      ? "Send the header Content-Type: application/json."
      : "Send Content-Type: application/json, in UTF-8.";
  return { kind: "refused", code: "unsupported_media_type", detail };
};

const ACCEPT_ENCODING = CODINGS_ACCEPTED.join(", ");

const codingRefusal = (coding: string): Body | undefined => {
  if (coding === "identity" || isCoding(coding)) return undefined;
  return {
    kind: "refused",
    code: "unsupported_media_type",
    detail: `Send the body plain, or in one of these codings: ${ACCEPT_ENCODING}.`,
    headers: { "accept-encoding": ACCEPT_ENCODING },
  };
};
