/** What an auditor finds in the demo, on whatever weekday and at whatever end of a month it is started. */
import { describe, expect, test } from "bun:test";
import { demoHistory } from "../../src/cli/demo/history.ts";
import { OBLIGATIONS, stateOfRow } from "../../src/views/cases/registers/obligations.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { createInMemoryView } from "./in-memory-view.ts";
import { messageOf } from "./records.ts";

const DAYS = [
  "2026-11-29",
  "2026-11-30",
  "2026-12-01",
  "2027-01-01",
  "2027-03-03",
  "2027-07-03",
  "2028-02-29",
];

describe.each(DAYS)("on %s", async (day) => {
  const { entries, waivedObligation } = demoHistory(day);
  const view = createInMemoryView(...PROJECTIONS);
  await view.take(
    entries.map(({ receivedAt, event }, index) =>
      messageOf(index + 1, { event, receivedAt: receivedAt.toISOString() }),
    ),
  );
  const rows = view.rows(OBLIGATIONS);

  test.each(["T00:00:01", "T23:59:59"])("at %s each told case is in its state", (time) => {
    const stateOf = (rule: string, name: string) => {
      const row = rows.find((each) => each.rule === rule && each.decision_id === `dec-${name}`);
      return row && stateOfRow(row, `${day}${time}`);
    };
    expect({
      overdue: stateOf("PIPA-EXPL", "overdue"),
      soon: stateOf("PIPA-REFUSE", "due-soon"),
      waived: stateOf("GDPR-12-3", "waived"),
      extended: stateOf("GDPR-12-3", "extended"),
      breached: stateOf("LL144-NOTICE", "breached"),
      late: stateOf("GDPR-12-3", "recorded-late"),
    }).toEqual({
      overdue: "overdue",
      soon: "due_soon",
      waived: "overdue",
      extended: "extended",
      breached: "breached",
      late: "met",
    });
    const late = rows.filter((row) => row.recorded_late === 1).map((row) => row.decision_id);
    expect(late).toContain("dec-recorded-late");
    expect(
      rows.find((row) => row.decision_id === "dec-waived" && row.rule === "GDPR-12-3")?.obligation_id,
    ).toBe(waivedObligation);
  });

  test("every other notice of the hiring tool came early enough, or not at all", () => {
    const breached = rows.filter((row) => row.status === "breached");
    expect(breached.length).toBeLessThan(8);
    const tooEarly = breached.filter((row) => row.earliest_decision_at !== null);
    expect(tooEarly.map((row) => row.decision_id)).toEqual(["dec-breached"]);
  });
});
