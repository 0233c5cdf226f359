/** ARCHITECTURE.md gives every room a number of lines. It only goes down: a room that grows fails, and so does a number that is left too high. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Smaller changes than this need not touch the table. */
const SLACK_LINES = 40;

interface Room {
  readonly name: string;
  readonly folders: readonly string[];
  readonly linesMax: number;
}

const [table = ""] = (read("ARCHITECTURE.md").split("## Rooms and their lines")[1] ?? "").split("\n## ");

const rooms: readonly Room[] = table
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [, name = "", folders = "", lines = ""] = line.split("|");
    return {
      name: name.replaceAll("`", "").trim(),
      folders: [...folders.matchAll(/`([^`]+)`/g)].map(([, folder]) => folder ?? ""),
      linesMax: Number(lines.replaceAll(",", "")),
    };
  });

const isCode = (path: string): boolean => /\.tsx?$/.test(path);
const isTest = (path: string): boolean => /(^test\/|\.test\.tsx?$)/.test(path);

const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));

const files = ["src", "streams", "test"].flatMap(filesIn).filter(isCode);

const roomOf = (path: string): Room | undefined =>
  rooms.find(({ folders }) =>
    isTest(path)
      ? folders.includes("test")
      : folders.some((folder) => path === folder || path.startsWith(`${folder}/`)),
  );

const linesOf = (path: string): number => read(path).split("\n").length - 1;

test("every file has a room", () => {
  expect(files.filter((path) => roomOf(path) === undefined)).toEqual([]);
});

test.each(rooms)("$name has at most the lines that ARCHITECTURE.md gives it", (room) => {
  const lines = files.filter((path) => roomOf(path) === room).reduce((sum, path) => sum + linesOf(path), 0);
  expect(lines).toBeLessThanOrEqual(room.linesMax);
  // A room that shrank lowers its number.
  expect(lines).toBeGreaterThan(room.linesMax - SLACK_LINES);
});
