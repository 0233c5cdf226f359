import { cpSync, mkdtempSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** A folder for an outbox, removed afterwards. */
export const withFolder = async (use: (directory: string) => Promise<void>): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), "prooftrail-sdk-"));
  try {
    await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

/** What a process that is killed now leaves: the bytes that the operating system has. They are in a folder inside, because this process lives. */
export const killed = (directory: string): string => {
  const left = mkdtempSync(`${directory}-left-`);
  cpSync(directory, left, { recursive: true });
  return left;
};

export const database = (path: string) => {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  return new DatabaseSync(path);
};

/** Of all outbox files that nobody holds: the id and the attempts of each event, and the id and the code of each dead letter. */
export const rowsIn = async (directory: string) => {
  const rows: Record<"event" | "dead_letter", unknown[]> = { event: [], dead_letter: [] };
  for (const name of (await readdir(directory)).filter((each) => each.endsWith(".sqlite")).sort()) {
    const file = database(join(directory, name));
    for (const [table, column] of [
      ["event", "attempts"],
      ["dead_letter", "code"],
    ] as const)
      for (const row of file.prepare(`SELECT body, ${column} value FROM ${table} ORDER BY id`).all())
        rows[table].push([JSON.parse(String(row.body)).event_id, row.value]);
    file.close();
  }
  return rows;
};
