/** Compressed request bodies (RFC 9110 §8.4, RFC 1952, RFC 8878), inflated off the main thread and never beyond a limit. */
import { gunzip, zstdDecompress } from "node:zlib";
import { areWholeFrames } from "./zstd-frames.ts";

type Decompressed =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "too_large" }
  /** Not of this coding, cut off, or with bytes after its end. */
  | { readonly kind: "corrupt" };

type Inflate = (
  compressed: Uint8Array,
  options: { readonly maxOutputLength: number; readonly info: boolean },
  callback: (error: Error | null, result: unknown) => void,
) => void;
type Coding = "gzip" | "x-gzip" | "zstd";

const CODINGS: Readonly<Record<Coding, Inflate>> = { gzip: gunzip, "x-gzip": gunzip, zstd: zstdDecompress };

/** For the header Accept-Encoding of a refusal (RFC 7694 §3). */
export const CODINGS_ACCEPTED = ["gzip", "zstd"] as const;

export const isCoding = (name: string): name is Coding => Object.hasOwn(CODINGS, name);

export const decompress = (
  coding: Coding,
  compressed: Uint8Array,
  bytesMax: number,
): Promise<Decompressed> => {
  // A frame that is cut off would give what it has, and no error (measured on Bun and Deno).
  if (coding === "zstd" && compressed.byteLength > 0 && !areWholeFrames(compressed))
    return Promise.resolve({ kind: "corrupt" });
  const { promise, resolve } = Promise.withResolvers<Decompressed>();
  // `info` tells how much of the input was read; `maxOutputLength` stops a bomb at the limit.
  CODINGS[coding](compressed, { maxOutputLength: bytesMax, info: true }, (error, result) => {
    if (error) {
      const isTooLarge = "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
      resolve({ kind: isTooLarge ? "too_large" : "corrupt" });
      return;
    }
    const bytes = wholeOutput(result, compressed.byteLength);
    resolve(bytes ? { kind: "bytes", bytes } : { kind: "corrupt" });
  });
  return promise;
};

/** The types of node:zlib do not know what `info` gives: `{ buffer, engine: { bytesWritten } }`. */
const wholeOutput = (result: unknown, inputBytes: number): Uint8Array | undefined => {
  if (typeof result !== "object" || result === null || !("buffer" in result) || !("engine" in result))
    return undefined;
  const { buffer, engine } = result;
  const isRead =
    typeof engine === "object" &&
    engine !== null &&
    "bytesWritten" in engine &&
    engine.bytesWritten === inputBytes;
  return isRead && buffer instanceof Uint8Array ? buffer : undefined;
};
