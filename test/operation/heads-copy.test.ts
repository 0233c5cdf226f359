import { expect, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openHeadsFolder } from "../../src/service/heads-folder.ts";
import { canMountDisk, mountDisk } from "../support/memory-disk.ts";
import { dataFolder } from "../support/process.ts";

test.skipIf(!(await canMountDisk()))("HEADS_COPY on a full disk gets no file that is cut off", async () => {
  await using folder = await dataFolder();
  await using disk = await mountDisk(folder.path, 1);
  const path = join(disk.root, folder.path);
  const copy = openHeadsFolder(path);
  const added = {
    end: { sequence: 1, record: "record 1" },
    heads: new Map([["acme", { note: "n1", extensions: [] }]]),
  };
  const filler = join(path, "filler");
  expect(() => writeFileSync(filler, new Uint8Array(2 ** 20 + 1))).toThrow("ENOSPC");
  await expect(copy.add(added)).rejects.toThrow("ENOSPC");
  expect(readdirSync(path)).toEqual(["filler"]);
  rmSync(filler);
  await copy.add(added);
});
