/** Pages of a register: where they end, and which cursors are accepted. */
import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { CHECKED_ROWS_MAX, CHECKED_ROWS_PER_READ } from "../../src/limits.ts";
import { DECISIONS, decisionList } from "../../src/views/cases/registers/decisions.ts";
import { countList, listRows, readList } from "../../src/views/kit/list.ts";
import { writeCursor } from "../../src/views/store/cursor.ts";
import type { Row } from "../../src/views/store/tables.ts";
import { project } from "./coverage-view.ts";
import { messageOf, simpleEvent } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const decided = [1, 2, 3].map((day) =>
  messageOf(day, {
    event: simpleEvent(`evt_${day}`, {
      event_type: "decision.automated_decision_made",
      timestamp: `2027-01-0${day}T00:00:00Z`,
      metadata: { decision_id: `d${day}` },
    }),
  }),
);

test("a page with the last row has no cursor, and a cursor is valid only for its tenant, list and kind of place", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  await project(views, decided, 3);
  const asked = { where: [], order: "asc" } as const;
  const read = (tenant: string, limit: number, cursor?: string) =>
    readList(views, tenant, decisionList, { ...asked, limit, cursor });
  expect(await read("acme", 3)).toMatchObject({ kind: "page", nextCursor: null });
  const first = await read("acme", 2);
  const cursor = (first.kind === "page" && first.nextCursor) || "";
  expect(await read("acme", 1, cursor)).toMatchObject({ rows: [{ decision_id: "d3" }], nextCursor: null });
  expect(await read("globex", 1, cursor)).toEqual({ kind: "invalid_cursor" });
  const scope = JSON.stringify(["acme", decisionList.table.name, asked.where, asked.order]);
  const forged = (...place: readonly (string | number)[]) =>
    read("acme", 1, writeCursor({ place, scope })).then(({ kind }) => kind);
  expect(await forged("2027-01-01T00:00:00", "d1")).toBe("page");
  for (const place of [[1, "d1"], ["2027-01-01T00:00:00"], ["2027-01-01T00:00:00", "d1", "x"], []])
    expect(await forged(...place)).toBe("invalid_cursor");
});

test("reading every row of a list gives other requests a turn between pages", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  await project(views, decided, 3);
  let turns = 0;
  const counted: number[] = [];
  const turn = (): void => {
    turns++;
    if (turns < 100) setImmediate(turn);
  };
  setImmediate(turn);
  for await (const _ of listRows(views, "acme", decisionList, { where: [], pageRows: 1 }))
    counted.push(turns);
  expect(counted).toHaveLength(3);
  expect(new Set(counted).size).toBe(3);
});

test("a filter without an index looks at a limited number of rows per request, in turns, and goes on after its cursor", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  await project(views, decided, 3);
  const more = CHECKED_ROWS_MAX + CHECKED_ROWS_PER_READ;
  copyDecision(database.path, more);
  const turns = { count: 0, isOver: false };
  const turn = (): void => {
    turns.count++;
    if (!turns.isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const question = { where: [], passes: ({ decision_id }: Row) => decision_id === "d3" };
  const read = (cursor?: string) =>
    readList(views, "acme", decisionList, { ...question, order: "asc", limit: 2, cursor });
  const first = await read();
  turns.isOver = true;
  expect(turns.count).toBeGreaterThanOrEqual(CHECKED_ROWS_MAX / CHECKED_ROWS_PER_READ - 1);
  expect(first).toMatchObject({ kind: "page", rows: [] });
  const second = await read((first.kind === "page" && first.nextCursor) || "");
  expect(second).toMatchObject({ rows: [{ decision_id: "d3" }], nextCursor: null });
  expect(await countList(views, "acme", decisionList, question)).toEqual({ value: 0, exact: false });
});

/** Copies of the decision d1, made before it. */
const copyDecision = (path: string, count: number): void => {
  const sqlite = new DatabaseSync(path);
  const columns = Object.keys(DECISIONS.columns);
  const copied = columns.map((name) => {
    if (name === "decision_id") return "'copy' || number.i";
    return name === "at" ? `'2026-01-01T00:00:00.' || (100000 + number.i)` : `"${name}"`;
  });
  sqlite.exec(
    `WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ${count}) INSERT INTO decisions (${columns.map((name) => `"${name}"`).join(", ")}) SELECT ${copied.join(", ")} FROM decisions, number WHERE decision_id = 'd1'`,
  );
  sqlite.close();
};
