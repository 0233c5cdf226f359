import { expect, test } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Input } from "../command.ts";
import type { Context } from "../context.ts";
import { openRejections } from "./rejections.ts";

test("each refused event is on its own line after a line that was cut off, with its numbers as they were sent", async () => {
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-rejected-"));
  try {
    const path = join(folder, "rejected.ndjson");
    await writeFile(path, '{"cut');
    const input = { text: () => path, isSet: () => false } as unknown as Input;
    const about = { code: "invalid_event", message: "no", errors: [] };
    {
      await using rejections = await openRejections(input, {} as unknown as Context);
      await rejections.add([
        { line: 1, ...about, text: '{\n  "n": 12345678901234567890\r\n}' },
        { line: 4, ...about, code: "invalid_json" },
      ]);
    }
    const [cut, ...lines] = (await readFile(path, "utf8")).trimEnd().split("\n");
    expect(cut).toBe('{"cut');
    expect(lines.map((line) => JSON.parse(line).line)).toEqual([1, 4]);
    expect(lines[0]).toContain("12345678901234567890");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
