import { describe, expect, test } from "bun:test";
import { METADATA_JSON_CHARACTERS_MAX, METADATA_LIST_ITEMS_MAX } from "../limits.ts";
import { type ChecklistItem, metadataChecklist, metadataJson, metadataTexts } from "./metadata-lists.ts";

describe("texts", () => {
  test.each<[string, unknown, readonly string[]]>([
    ["one text", "art. 6", ["art. 6"]],
    ["an array keeps its order without repeats", ["b", "a", "b"], ["b", "a"]],
    ["the clauses that a classification cites", [{ legal_basis: "x", ref: "art. 2(4)" }], ["art. 2(4)"]],
    ["anything else gives nothing", [null, 7, "", {}, { title: "x" }, ["art. 6"]], []],
    ["an object is not a list", { a: 1 }, []],
  ])("%s", (_, clauses, expected) => expect(metadataTexts({ clauses }, "clauses")).toEqual(expected));

  test("the first name that has any texts counts", () => {
    expect(
      metadataTexts({ clauses: [], clause: "art. 6", other: "x" }, "clauses", "clause", "other"),
    ).toEqual(["art. 6"]);
  });

  test("there are no more texts, and none longer, than a register keeps", () => {
    const clauses = Array.from({ length: 1000 }, (_, index) => `${index} ${"x".repeat(1000)}`);
    const found = metadataTexts({ clauses }, "clauses");
    expect(found).toHaveLength(METADATA_LIST_ITEMS_MAX);
    expect(found[1]).toBe(`1 ${"x".repeat(498)}…`);
  });
});

describe("JSON", () => {
  test("an object or a text is kept as it is, and nothing else is", () => {
    expect(metadataJson({ input: { b: 1, a: ["kr"] } }, "input")).toBe('{"b":1,"a":["kr"]}');
    expect(metadataJson({ input: 7, inputs: "x" }, "input", "inputs")).toBe('"x"');
    for (const input of [null, true, [1], undefined])
      expect(metadataJson({ input }, "input")).toBeUndefined();
  });

  test("a value is kept whole or, if it is too long, not at all, because a part would be another input", () => {
    const fits = "x".repeat(METADATA_JSON_CHARACTERS_MAX - 2);
    expect(metadataJson({ input: fits }, "input")).toHaveLength(METADATA_JSON_CHARACTERS_MAX);
    expect(metadataJson({ input: `${fits}x` }, "input")).toBeUndefined();
  });
});

describe("a checklist", () => {
  const items = (states: Readonly<Record<string, ChecklistItem["state"]>>) =>
    Object.entries(states).map(([item, state]) => ({ item, state }));

  test.each<[string, unknown, readonly ChecklistItem[]]>([
    ["a member for each item", { scope: true, risks: "drafted" }, items({ risks: "drafted", scope: true })],
    ["names alone", ["scope", ""], items({ scope: null })],
    [
      "objects that name item and state",
      [...[{ name: "scope", done: false }], ...[{ item: "risks", status: 2 }]],
      items({ risks: 2, scope: false }),
    ],
    ["an object of objects", { scope: { done: true, by: "Kim" } }, items({ scope: true })],
    ["no invalid state", { scope: null, risks: ["a"], "": true }, items({ risks: null, scope: null })],
    ["a name that Object has", JSON.parse('{"__proto__": true}'), [{ item: "__proto__", state: true }]],
    ["anything else gives nothing", 7, []],
    ["items without a name", [{ done: true }, null, 3], []],
  ])("%s", (_, checklist, expected) =>
    expect(metadataChecklist({ checklist }, "items", "checklist")).toEqual(expected),
  );

  test("there are no more items than a register keeps: the first ones by name, each once", () => {
    const items = Array.from({ length: METADATA_LIST_ITEMS_MAX + 9 }, (_, index) => `item ${10 + index}`);
    const checklist = [...items.toReversed(), ...items].map((item, index) => ({ item, state: index }));
    expect(metadataChecklist({ checklist }, "checklist")).toEqual(
      items.slice(0, METADATA_LIST_ITEMS_MAX).map((item, index) => ({ item, state: items.length + index })),
    );
  });

  test("names and states are no longer than a register keeps", () => {
    const [item] = metadataChecklist({ checklist: { ["n".repeat(600)]: "s".repeat(600) } }, "checklist");
    expect(item).toEqual({ item: `${"n".repeat(500)}…`, state: `${"s".repeat(500)}…` });
  });
});
