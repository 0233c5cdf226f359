import { expect, test } from "bun:test";
import { tellingOf } from "./telling.ts";

const OPEN = { state: "open", dueAt: "2026-12-01T23:59:59", isRecordedLate: false } as const;
const MET = { ...OPEN, state: "met" } as const;

test("an unfinished announcement is repeated under its number, and a later change gets an unused number", () => {
  const begun = { ...MET, number: 3 };
  expect(tellingOf(MET, { before: OPEN, begun, tellings: 3 })).toEqual({
    transitions: ["met"],
    number: 3,
    opens: false,
    isNew: false,
  });
  for (const [tellings, number] of [
    [3, 4],
    [9, 9],
  ] as const) {
    const telling = tellingOf({ ...OPEN, state: "due_soon" }, { before: OPEN, begun, tellings });
    expect(telling).toEqual({ transitions: ["due"], number, opens: false, isNew: true });
  }
});

test("nothing is announced if nothing changed and no announcement is unfinished", () => {
  const telling = tellingOf(OPEN, { before: OPEN, begun: undefined, tellings: 1 });
  expect(telling).toEqual({ transitions: [], number: 1, opens: false, isNew: false });
});
