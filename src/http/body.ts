/** Bytes in: type, size and completeness, before anybody looks at the content. */
import type { ProblemCode } from "./problem.ts";

export type Body =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | {
      readonly kind: "refused";
      readonly code: Extract<ProblemCode, "payload_too_large" | "unsupported_media_type" | "invalid_request">;
      readonly detail: string;
    };

/** The whole body, of at most `bytesMax` bytes. Reading stops at the limit, whatever the client announced. */
export const readBody = async (request: Request, bytesMax: number): Promise<Body> => {
  const mediaProblem = mediaTypeProblem(request.headers);
  if (mediaProblem !== undefined)
    return { kind: "refused", code: "unsupported_media_type", detail: mediaProblem };
  const announced = Number(request.headers.get("content-length") ?? Number.NaN);
  if (announced > bytesMax) return tooLarge(bytesMax);
  try {
    if (announced >= 0) return { kind: "bytes", bytes: new Uint8Array(await request.arrayBuffer()) };
    return await readStream(request, bytesMax);
  } catch {
    return { kind: "refused", code: "invalid_request", detail: "The body ended before it was complete." };
  }
};

const tooLarge = (bytesMax: number): Body => ({
  kind: "refused",
  code: "payload_too_large",
  detail: `The body is larger than ${bytesMax} bytes.`,
});

const readStream = async (request: Request, bytesMax: number): Promise<Body> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > bytesMax) return tooLarge(bytesMax);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return { kind: "bytes", bytes };
};

/** RFC 9110 §8.3.1: type and parameter names in any case; a charset may be quoted. */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?;?$/i;

const mediaTypeProblem = (headers: Headers): string | undefined => {
  const type = headers.get("content-type");
  if (type === null) return "Send the header Content-Type: application/json.";
  if (!JSON_TYPE.test(type.trim())) return "Send Content-Type: application/json, in UTF-8.";
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity") {
    return "Send the body without compression: this version takes no Content-Encoding.";
  }
  return undefined;
};
