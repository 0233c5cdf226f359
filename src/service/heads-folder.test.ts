import { expect, spyOn, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KnownHead } from "../proof/ports.ts";
import { formatCheckpoint } from "../proof/tlog-checkpoint.ts";
import { openHeadsFolder } from "./heads-folder.ts";

const newFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "prooftrail-heads-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
};
const head = (note: string): KnownHead => ({ note, extensions: [] });
const group = (sequence: number, heads: Readonly<Record<string, string>>) => ({
  end: { sequence, record: `record ${sequence}` },
  heads: new Map(Object.entries(heads).map(([tenant, note]) => [tenant, head(note)])),
});

test("several processes write to the folder, and each reads what the others wrote", async () => {
  using folder = newFolder();
  const writers = [1, 2, 3].map(() => openHeadsFolder(folder.path));
  expect(await writers[0]?.read()).toEqual({ end: undefined, heads: new Map() });
  await Promise.all(
    writers.map((writer, index) => writer.add(group(index + 1, { [`t${index}`]: `n${index}` }))),
  );
  const { heads } = group(3, { t0: "n0", t1: "n1", t2: "n2" });
  for (const reader of [...writers, openHeadsFolder(folder.path)]) {
    const known = await reader.read();
    expect(known.end).toEqual({ sequence: 3, record: "record 3" });
    expect(new Map([...known.heads].sort())).toEqual(heads);
  }
});

test("the number of files is bounded, and nothing that they held is lost", async () => {
  using folder = newFolder();
  const writer = openHeadsFolder(folder.path);
  const slow = openHeadsFolder(folder.path);
  await writer.add(group(1, { first: "n1" }));
  await slow.read();
  for (let sequence = 2; sequence <= 200; sequence++)
    await writer.add(group(sequence, { acme: `n${sequence}` }));
  expect(readdirSync(folder.path).length).toBeLessThan(70);
  for (const reader of [writer, slow, openHeadsFolder(folder.path)]) {
    const known = await reader.read();
    expect(known.end?.sequence).toBe(200);
    expect(Object.fromEntries(known.heads)).toEqual({ first: head("n1"), acme: head("n200") });
  }
});

test("of two sealers the one that signed less does not take back what is known", async () => {
  using folder = newFolder();
  const [quick, slow] = [openHeadsFolder(folder.path), openHeadsFolder(folder.path)];
  const noteOf = (size: number): string =>
    `${formatCheckpoint({ origin: "prooftrail/acme", size, root: new Uint8Array(32) })}\n— signatures\n`;
  await quick.add(group(9, { acme: noteOf(9) }));
  await slow.add(group(8, { acme: noteOf(8) }));
  for (const reader of [quick, slow]) {
    const { end, heads } = await reader.read();
    expect([end?.sequence, heads.get("acme")]).toEqual([9, head(noteOf(9))]);
  }
});

test("a file that is damaged or cut off keeps the folder from being read or written until it is back or gone", async () => {
  using folder = newFolder();
  const writer = openHeadsFolder(folder.path);
  await writer.add(group(1, { acme: "n1" }));
  await writer.add(group(2, { acme: "n2" }));
  const newest = join(folder.path, "heads-000000000002.json");
  const whole = readFileSync(newest, "utf8");
  for (const damaged of ["", whole.slice(0, -9), "{}", whole.replace('"sequence":2', '"sequence":1')]) {
    writeFileSync(newest, damaged);
    const reader = openHeadsFolder(folder.path);
    await expect(reader.read()).rejects.toThrow(newest);
    await expect(reader.add(group(3, { acme: "n3" }))).rejects.toThrow(newest);
  }
  const reader = openHeadsFolder(folder.path);
  await expect(reader.read()).rejects.toThrow(newest);
  writeFileSync(newest, whole);
  expect((await reader.read()).end?.sequence).toBe(2);
  rmSync(newest);
  expect((await openHeadsFolder(folder.path).read()).end?.sequence).toBe(1);
});

test("a damaged file does not matter once a later one has everything", async () => {
  using folder = newFolder();
  const writer = openHeadsFolder(folder.path);
  await writer.add(group(1, { acme: "n1" }));
  await writer.replace({ ...group(1, { acme: "n0" }), before: "all of them" });
  writeFileSync(join(folder.path, "heads-000000000001.json"), "{");
  expect((await openHeadsFolder(folder.path).read()).heads.get("acme")).toEqual(head("n0"));
});

test("a folder that never had a file is empty, and one that was emptied later is not", async () => {
  using folder = newFolder();
  const writer = openHeadsFolder(folder.path);
  await writer.read();
  expect(writer.isEmpty()).toBe(true);
  await writer.add(group(1, { acme: "n1" }));
  expect(readdirSync(folder.path)).toEqual(["heads-000000000001.json"]);
  rmSync(join(folder.path, "heads-000000000001.json"));
  await writer.read();
  expect(writer.isEmpty()).toBe(false);
});

test("a folder that cannot be used is a problem until it can be used again, and is not filled with files meanwhile", async () => {
  using folder = newFolder();
  const copy = openHeadsFolder(folder.path);
  await copy.add(group(1, { acme: "n1", zeta: "z1" }));
  expect(copy.problem()).toBeUndefined();
  rmSync(folder.path, { recursive: true });
  await expect(copy.add(group(2, { acme: "n2" }))).rejects.toThrow("ENOENT");
  await expect(copy.read()).rejects.toThrow("ENOENT");
  expect(copy.problem()).toContain("ENOENT");
  mkdirSync(folder.path);
  // What was known counts although the folder is empty now: it may not be mounted.
  expect((await copy.read()).end?.sequence).toBe(1);
  expect(copy.problem()).toContain("ENOENT");
  await copy.add(group(2, { acme: "n2" }));
  expect(copy.problem()).toBeUndefined();
  for (const reader of [copy, openHeadsFolder(folder.path)])
    expect(Object.fromEntries((await reader.read()).heads)).toEqual({ acme: head("n2"), zeta: head("z1") });
  await using handle = await open(folder.path);
  using sync = spyOn(Object.getPrototypeOf(handle), "sync").mockResolvedValueOnce(undefined);
  sync.mockRejectedValueOnce(new Error("the folder cannot be synced"));
  await expect(copy.add(group(3, { acme: "n3" }))).rejects.toThrow("the folder cannot be synced");
  expect(readdirSync(folder.path)).toHaveLength(2);
});

test("after a loss was accepted only what replaces the heads counts, and the old ones are kept beside", async () => {
  using folder = newFolder();
  const [writer, other] = [openHeadsFolder(folder.path), openHeadsFolder(folder.path)];
  await writer.add(group(9, { acme: "n9", zeta: "z1" }));
  await other.read();
  const heads = new Map<string, KnownHead>([["acme", { extensions: ["a line"] }]]);
  await writer.replace({ end: { sequence: 4, record: "r" }, heads, before: "all of them" });
  for (const reader of [writer, other, openHeadsFolder(folder.path)])
    expect(await reader.read()).toEqual({ end: { sequence: 4, record: "r" }, heads });
  expect(readdirSync(folder.path).filter((name) => name.startsWith("given-up"))).toHaveLength(1);
});
