import { expect, test } from "bun:test";
import { DEADLINES } from "./deadline-table.ts";
import { fingerprintOf, readRules, rulesetVersion, STANDARD_RULES } from "./overrides.ts";

test("the operator's limits, zones and holidays replace those of the table", () => {
  const read = readRules(
    JSON.stringify({
      holidays: ["2026-12-25"],
      rules: {
        "HR-CLOSE": { limit: { count: 5, unit: "business_days" }, zone: "Asia/Seoul" },
        "CIA-EXPL": null,
      },
    }),
  );
  if (read.kind !== "rules") throw new Error(read.errors.join());
  expect(read.rules.deadlines).toHaveLength(DEADLINES.length - 1);
  expect(read.rules.deadlines.find(({ id }) => id === "HR-CLOSE")).toMatchObject({
    limit: { count: 5, unit: "business_days" },
    zone: "Asia/Seoul",
  });
  expect([...read.rules.holidays]).toEqual(["2026-12-25"]);
  expect(read.version).toBeGreaterThan(0);
});

test("the former name of the rules is still read, and refused beside the new one", () => {
  const [named, former] = ['{"rules":{"OBJ-ACK":null}}', '{"deadlines":{"OBJ-ACK":null}}'].map((text) =>
    readRules(text),
  );
  expect(former).toEqual(named);
  const both = readRules('{"rules":{},"deadlines":{}}');
  expect(both.kind === "invalid" && both.errors.join()).toContain(
    "/deadlines: this is the former name of rules",
  );
});

test("empty rules are the table as it is, and different rules have different versions", () => {
  const plain = readRules("{}");
  expect(plain).toMatchObject({ kind: "rules", version: 0, rules: { deadlines: DEADLINES } });
  const versions = ["{}", '{"holidays":["2026-12-25"]}', '{"rules":{"OBJ-ACK":null}}'].map((text) =>
    readRules(text),
  );
  expect(new Set(versions.map((read) => read.kind === "rules" && read.version)).size).toBe(3);
});

test("the same holidays in another order are the same rules", () => {
  const version = (holidays: readonly string[]) => {
    const read = readRules(JSON.stringify({ holidays }));
    return read.kind === "rules" && read.version;
  };
  expect(version(["2026-12-28", "2026-12-25"])).toBe(version(["2026-12-25", "2026-12-28"]));
});

test("a changed table has another version, and so do the rules of an operator", () => {
  // If this fails, a row was changed: raise DEADLINES_VERSION and put both new values here.
  expect([rulesetVersion(STANDARD_RULES), fingerprintOf(STANDARD_RULES).toString("hex").slice(0, 8)]).toEqual(
    ["2026-11-29", "73d5d4aa"],
  );
  const read = readRules('{"rules":{"OBJ-ACK":null}}');
  expect(read.kind === "rules" && rulesetVersion(read.rules)).toMatch(/^2026-11-29\+[0-9a-f]{8}$/);
});

test.each([
  ["{", "not JSON"],
  ["[]", "/"],
  ['{"holiday":[]}', "/holiday"],
  ['{"holidays":["25.12.2026"]}', "/holidays/0"],
  ['{"rules":{"NO-SUCH":null}}', "/rules/NO-SUCH"],
  ['{"rules":{"OBJ-ACK":{"limit":{"count":-1,"unit":"days"}}}}', "/rules/OBJ-ACK"],
  ['{"rules":{"OBJ-ACK":{"zone":"Mars/Olympus"}}}', "/rules/OBJ-ACK/zone"],
])("%s is refused with the place of the error", (text, place) => {
  const read = readRules(text);
  expect(read.kind === "invalid" && read.errors.join()).toContain(place);
});

test.each([
  ['{"holiday":[]}', "/holiday: There is nothing of that name; there are holidays, rules, deadlines"],
  [
    '{"rules":{"HR-CLOSE":{"limt":{}}}}',
    "/rules/HR-CLOSE/limt: There is nothing of that name; there are limit, zone",
  ],
  [
    '{"rules":{"HRCLOSE":null}}',
    `/rules/HRCLOSE: There is nothing of that name; there are ${DEADLINES.map(({ id }) => id).join(", ")}`,
  ],
  ['{"holidays":["25.12.2026"]}', "/holidays/0: Expected a date such as 2026-12-25"],
  ['{"holidays":["2026-12-25","2026-02-30"]}', "/holidays/1: there is no such date"],
])("%s is refused with the names and values that exist", (text, said) => {
  expect(readRules(text)).toEqual({ kind: "invalid", errors: [said] });
});

test("errors in a rule are reported with what is allowed", () => {
  const wrong = { "HR-CLOSE": { limit: { count: -5, unit: "weeks" } }, "CIA-EXPL": 5 };
  const read = readRules(JSON.stringify({ rules: wrong }));
  const said = read.kind === "invalid" ? [...read.errors].sort() : [];
  expect(said).toEqual([
    "/rules/CIA-EXPL: Expected object or null",
    "/rules/HR-CLOSE/limit/count: Expected integer to be greater or equal to 0",
    "/rules/HR-CLOSE/limit/unit: Expected 'days' or 'business_days' or 'months'",
  ]);
});
