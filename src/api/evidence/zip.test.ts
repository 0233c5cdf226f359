import { expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { openZip } from "../../proof/evidence/zip-reader.ts";
import { createZipWriter } from "./zip.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Half a megabyte that hardly compresses, so that it does not come out in one piece. The end is small. */
const LINES = Array.from(
  { length: 10 },
  (_, index) => `${randomBytes(39_000).toString("base64")} é ${index}\n`,
).concat("é\n");

test("files of many pieces have the content that was put in, compressed or not, and go out while they are written", async () => {
  const zip = createZipWriter();
  const chunks: Uint8Array[] = [];
  const plain = Buffer.from(LINES.join(""));
  for (const name of ["records.ndjson", "manifest.json"] as const) {
    let put = 0;
    const lines = function* () {
      for (const line of LINES) {
        put++;
        yield line;
      }
    };
    const adding = zip.add(name, lines());
    const from = chunks.length;
    let putAtFirst: number | undefined;
    for (;;) {
      const step = await adding.next();
      if (step.done) {
        expect(step.value).toMatchObject({ bytes: plain.length, sha256: sha256(plain) });
        break;
      }
      chunks.push(step.value);
      if (chunks.length > from + 1) putAtFirst ??= put;
    }
    expect(putAtFirst).toBeLessThan(LINES.length);
  }
  chunks.push(...zip.end());
  const whole = new Uint8Array(Buffer.concat(chunks));
  const source = { size: whole.length, read: async (from: number, to: number) => whole.subarray(from, to) };
  const opened = await openZip(source);
  if (opened.kind !== "opened") throw new Error(JSON.stringify(opened));
  const { files } = opened;
  expect(files.names).toEqual(["records.ndjson", "manifest.json"]);
  for (const name of files.names)
    expect(sha256(Buffer.concat(await Array.fromAsync(files.chunks(name))))).toBe(sha256(plain));
});
