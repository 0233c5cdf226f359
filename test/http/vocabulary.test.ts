/** The vocabulary has a label for every name that an answer may contain. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SYSTEM_EVENTS } from "../../src/access/administration/system-events.ts";
import { LABELS, type Label } from "../../src/api/vocabulary/labels.ts";
import { EVENT_TYPES } from "../../src/event/event-types.ts";
import { DEADLINE_IDS, DUTY_NAMES } from "../../src/law/obligations/deadline-table.ts";
import { INCIDENT_DEADLINES } from "../../src/law/obligations/incident-class.ts";
import { LEGAL_BASES } from "../../src/views/coverage/legal-bases.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ EXTRA_EVENT_TYPES: "loan.paid_out,paid" });
});
afterAll(() => service[Symbol.asyncDispose]());

const read = async (key?: string) =>
  (await service.call("/v1/vocabulary", key === undefined ? {} : { key })).json.data;

const namesOf = (labels: object): readonly string[] => Object.keys(labels).sort();

test("names without a type of their own have a label each", () => {
  const laws = [...LEGAL_BASES.map(({ name }) => name), "any", "policy"];
  expect(namesOf(LABELS.laws)).toEqual(laws.sort());
  expect(namesOf(LABELS.duties)).toEqual([...DUTY_NAMES].sort());
  expect(namesOf(LABELS.incident_classes)).toEqual([...INCIDENT_DEADLINES.keys()].sort());
  const types = [...EVENT_TYPES, ...Object.keys(SYSTEM_EVENTS)];
  const groups = types.map((type) => (type.includes(".") ? type.split(".")[0] : "legacy"));
  expect(namesOf(LABELS.event_groups)).toEqual([...new Set(groups.map(String))].sort());
});

test("every label is a word in English and one in Korean, and none is the bare name", () => {
  const sets: readonly [string, Readonly<Record<string, Label>>][] = Object.entries(LABELS);
  for (const [set, labels] of sets)
    for (const [name, { en, ko }] of Object.entries(labels)) {
      const where = `${set} ${name}`;
      expect([where, en.trim(), en.includes("_")]).toEqual([where, en, false]);
      expect([where, /\p{Script=Hangul}/u.test(ko)]).toEqual([where, true]);
    }
});

test("any key reads it: types with their groups, rules with law, duty and article", async () => {
  const data = await read(await service.makeKey("bank", ["events:write"]));
  expect(namesOf(data)).toEqual(namesOf(LABELS));
  expect(data.event_types["decision.human_review_completed"]).toEqual({
    en: "Human review completed",
    ko: "인적 검토 완료",
    group: "decision",
  });
  expect(data.event_types.objection.group).toBe("legacy");
  expect(namesOf(data.rules)).toEqual([...DEADLINE_IDS].sort());
  expect(data.rules["GDPR-12-3"]).toEqual({
    en: "Answer the objection",
    ko: "이의 제기에 답변",
    law: "gdpr_art_22",
    zone: "Europe/Brussels",
    duty: "objection",
    clause: "GDPR art. 12(3)",
  });
});

test("types that the operator added are in it under their own names", async () => {
  const { event_types } = await read();
  expect(event_types["loan.paid_out"]).toEqual({ en: "loan.paid_out", ko: "loan.paid_out", group: "loan" });
  expect(event_types.paid.group).toBe("legacy");
});

test("without a key, or with a parameter, it is refused", async () => {
  expect((await service.call("/v1/vocabulary", { key: null })).status).toBe(401);
  expect((await service.call("/v1/vocabulary?lang=ko")).status).toBe(400);
});
