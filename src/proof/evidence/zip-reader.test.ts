import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { writeZip } from "../../../test/support/zip.ts";
import { openZip } from "./zip-reader.ts";

test.each([
  ["deflated", undefined],
  ["stored", 0],
])("a file on a disk that fails while it is read is no damaged file, %s", async (_, method) => {
  const content = randomBytes(1024 * 1024);
  const packed = method === undefined ? {} : { packed: { method, bytes: content } };
  const bytes = writeZip([{ name: "records.ndjson", content, ...packed }]);
  let isGone = false;
  const opened = await openZip({
    size: bytes.length,
    read: async (from, to) => {
      if (isGone) throw new Error("the disk is gone");
      return bytes.subarray(from, to);
    },
  });
  if (opened.kind !== "opened") throw new Error(JSON.stringify(opened));
  const read = async (): Promise<void> => {
    for await (const chunk of opened.files.chunks("records.ndjson")) isGone = chunk.length > 0;
  };
  await expect(read()).rejects.toThrow("the disk is gone");
});
