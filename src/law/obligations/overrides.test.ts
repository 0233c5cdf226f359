import { expect, test } from "bun:test";
import { DEADLINES, rulesetVersion } from "./deadline-table.ts";
import { fingerprintOf, readRules, STANDARD_RULES } from "./overrides.ts";

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
  ["{", "it is not JSON"],
  ["[]", "The body is not valid: send an object with any of holidays, rules, deadlines"],
  ['{"holiday":[]}', "/holiday: There is no such member: did you mean holidays?"],
  [
    '{"rules":{"HR-CLOSE":{"limt":{}}}}',
    "/rules/HR-CLOSE/limt: There is no such member: did you mean limit?",
  ],
  [
    '{"rules":{"NO-SUCH":null}}',
    `/rules/NO-SUCH: There is no such member. Known: ${DEADLINES.map(({ id }) => id).join(", ")}`,
  ],
  ['{"holidays":["25.12.2026"]}', "holidays/0 is not valid: send a date such as 2026-12-25"],
  ['{"holidays":["2026-12-25","2026-02-30"]}', "/holidays/1: there is no such date"],
  ['{"rules":{"OBJ-ACK":{"zone":"Mars/Olympus"}}}', "/rules/OBJ-ACK/zone: there is no such zone"],
  [
    '{"rules":{"HR-CLOSE":{"limit":{"count":-5,"unit":"days"}}}}',
    "rules/HR-CLOSE/limit/count is not valid: send a whole number from 0 to 3660",
  ],
  [
    '{"rules":{"CIA-EXPL":5}}',
    "rules/CIA-EXPL is not valid: send an object with any of limit, zone, or null",
  ],
])("%s is refused with its place and with what to send", (text, said) =>
  expect(readRules(text)).toEqual({ kind: "invalid", errors: [said] }),
);
