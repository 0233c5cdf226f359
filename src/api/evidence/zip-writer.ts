/** Writes a ZIP, file after file. Holds no file whole. */
import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import { crc32, createDeflateRaw } from "node:zlib";
import { Zip, type ZipInputFile } from "fflate";
import { type BundleFile, methodOf } from "../../proof/evidence/manifest.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Sizes and digests of a written file. */
export interface WrittenFile {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  readonly packedBytes: number;
  readonly packedSha256: string;
}

export interface ZipWriter {
  /** One file at a time. Yields the bytes to send, and returns what was written. */
  add(
    name: BundleFile,
    content: AsyncIterable<string> | Iterable<string>,
  ): AsyncGenerator<Bytes, WrittenFile>;
  /** The directory. Without it the rest is not a ZIP. */
  end(): readonly Bytes[];
}

/** The first DOS time. DOS times have no zone, and fflate writes this as local time. */
const mtime = new Date(1980, 0, 1);

/** Small pieces are collected before they are compressed, because each call costs a turn of the thread pool. */
const PACKED_AT_ONCE_BYTES = 256 * 1024;

export const createZipWriter = (): ZipWriter => {
  let made: Bytes[] = [];
  let failure: Error | undefined;
  const zip = new Zip((error, chunk) => {
    if (error) failure = error;
    else made.push(chunk);
  });
  const taken = (): readonly Bytes[] => {
    if (failure) throw failure;
    const chunks = made;
    made = [];
    return chunks;
  };
  return {
    add: async function* (name, content) {
      const method = methodOf(name);
      const entry: ZipInputFile = { filename: name, size: 0, crc: 0, compression: method, mtime };
      zip.add(entry);
      const [plain, packed] = [createDigest(), createDigest()];
      await using packer = method === 8 ? createDeflater() : stored;
      const put = (chunks: readonly Uint8Array[], isLast: boolean): void => {
        for (const chunk of chunks) {
          packed.update(chunk);
          // A copy, because the producer may reuse its memory.
          entry.ondata?.(null, new Uint8Array(chunk), false);
        }
        if (!isLast) return;
        entry.size = plain.bytes();
        entry.crc = plain.crc();
        entry.ondata?.(null, new Uint8Array(0), true);
      };
      for await (const bytes of gathered(content)) {
        plain.update(bytes);
        put(await packer.pack(bytes), false);
        yield* taken();
      }
      put(await packer.end(), true);
      yield* taken();
      return {
        bytes: plain.bytes(),
        sha256: plain.sha256(),
        packedBytes: packed.bytes(),
        packedSha256: packed.sha256(),
      };
    },
    end: () => {
      zip.end();
      return taken();
    },
  };
};

async function* gathered(content: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const text of content) {
    const part = Buffer.from(text);
    parts.push(part);
    length += part.length;
    if (length < PACKED_AT_ONCE_BYTES) continue;
    yield Buffer.concat(parts);
    parts = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(parts);
}

const createDigest = () => {
  const hash: Hash = createHash("sha256");
  let [bytes, crc] = [0, 0];
  return {
    update: (chunk: Uint8Array): void => {
      hash.update(chunk);
      bytes += chunk.length;
      crc = crc32(chunk, crc);
    },
    bytes: () => bytes,
    crc: () => crc,
    sha256: () => hash.digest("hex"),
  };
};

interface Packer extends AsyncDisposable {
  pack(bytes: Uint8Array): Promise<readonly Uint8Array[]>;
  end(): Promise<readonly Uint8Array[]>;
}

const stored: Packer = {
  pack: async (bytes) => [bytes],
  end: async () => [],
  [Symbol.asyncDispose]: async () => {},
};

/** On the thread pool; fflate would compress on the main thread. Measured 4 times as fast. */
const createDeflater = (): Packer => {
  const deflate = createDeflateRaw();
  let made: Uint8Array[] = [];
  deflate.on("data", (chunk: Uint8Array) => made.push(chunk));
  const taken = (): readonly Uint8Array[] => {
    const chunks = made;
    made = [];
    return chunks;
  };
  return {
    pack: async (bytes) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      deflate.write(bytes, (error) => (error ? reject(error) : resolve()));
      await promise;
      return taken();
    },
    end: async () => {
      const ended = once(deflate, "end");
      deflate.end();
      await ended;
      return taken();
    },
    [Symbol.asyncDispose]: async () => {
      deflate.destroy();
    },
  };
};
