/** What counts by its own time although the log received it late: that must show, whether it met the obligation or only gave it more time. */
import { describe, expect, test } from "bun:test";
import { fact, type Metadata } from "../../../test/support/facts.ts";
import { caseOf } from "../cases/case.ts";
import type { Fact } from "../cases/fact.ts";
import { obligationsOf } from "./clocks.ts";
import type { DeadlineId } from "./deadlines.ts";
import { STANDARD_RULES } from "./overrides.ts";

const recordedAt = (recorded: string, line: string, metadata: Metadata, members: Metadata = {}): Fact => ({
  ...fact(line, metadata, members),
  recorded,
});
const duty = (rule: DeadlineId, ...facts: readonly Fact[]) =>
  obligationsOf(caseOf(facts), STANDARD_RULES).find((each) => each.rule === rule);

describe("an extension that was recorded after the due time", () => {
  const about = { objection_id: "o1" };
  const received = fact("o objection.received 2026-10-22T09:00:00Z", about, { legal_bases: ["gdpr_art_22"] });
  const extension = (recorded: string, id = "x", at = "2026-11-10T09:00:00Z") =>
    recordedAt(recorded, `${id} objection.acknowledged ${at}`, {
      ...about,
      extension_days: 60,
      reason: "many",
    });
  const late = extension("2026-11-29T09:00:00");
  const resolved = (at: string, recorded = at.slice(0, -1)) =>
    recordedAt(recorded, `r objection.resolved ${at}`, { ...about, resolution: "upheld" });

  test("counts by its own time, and the obligation shows that it was recorded late", () => {
    const open = { status: "open", extensions: 1, extendedRecorded: "2026-11-29T09:00:00" };
    expect(duty("GDPR-12-3", received, late)).toMatchObject({ ...open, isRecordedLate: true });
    expect(duty("GDPR-12-3", received, late, resolved("2026-11-29T10:00:00Z"))).toMatchObject({
      ...open,
      status: "met",
      isRecordedLate: true,
    });
  });

  test("also where it met the obligation within the grace after the time that was known", () => {
    // 22 November is a Sunday.
    const found = duty("GDPR-12-3", received, late, resolved("2026-11-24T05:00:00Z"));
    expect(found).toMatchObject({ status: "met", isRecordedLate: true });
    const backdated = duty(
      "GDPR-12-3",
      received,
      late,
      resolved("2026-11-20T05:00:00Z", "2026-11-29T05:00:00"),
    );
    expect(backdated).toMatchObject({ status: "met", isRecordedLate: true });
  });

  test("but not where it came in time, or where the answer needed none", () => {
    const timely = extension("2026-11-10T09:00:01");
    expect(duty("GDPR-12-3", received, timely, resolved("2026-11-29T10:00:00Z"))).toMatchObject({
      status: "met",
      extendedRecorded: "2026-11-10T09:00:01",
      isRecordedLate: false,
    });
    expect(duty("GDPR-12-3", received, late, resolved("2026-11-20T10:00:00Z"))).toMatchObject({
      status: "met",
      isRecordedLate: false,
    });
    expect(duty("GDPR-12-3", received, resolved("2026-11-20T10:00:00Z"))).toMatchObject({
      extendedRecorded: undefined,
      isRecordedLate: false,
    });
  });

  test("of two, the one that came in time gives the time that was known", () => {
    const timely = extension("2026-11-12T09:00:00", "y", "2026-11-12T09:00:00Z");
    const found = duty("GDPR-12-3", received, late, timely, resolved("2026-11-29T10:00:00Z"));
    expect(found).toMatchObject({ status: "met", extensions: 1, isRecordedLate: false });
  });
});

describe("an awareness that was recorded after the due time", () => {
  const detected = fact("i incident.detected 2026-11-01T10:00:00Z", { incident_id: "i1" });
  const aware = (recorded: string, aware_at: string, id = "m") =>
    recordedAt(recorded, `${id} incident.mitigated ${recorded}Z`, { incident_id: "i1", aware_at });
  const report = (at: string) => fact(`r incident.reported_to_authority ${at}`, { incident_id: "i1" });
  const late = aware("2026-11-29T09:00:00", "2026-11-27T00:00:00Z");

  test("moves the start, and the obligation shows when that was recorded, and that it was late", () => {
    expect(duty("EU73-GEN", detected, late)).toMatchObject({
      status: "open",
      startedAt: "2026-11-27T00:00:00",
      startedRecorded: "2026-11-29T09:00:00",
      isRecordedLate: true,
    });
    for (const at of ["2026-11-20T09:00:00Z", "2026-11-30T09:00:00Z"])
      expect(duty("EU73-GEN", detected, late, report(at))).toMatchObject({
        status: "met",
        isRecordedLate: true,
      });
    const inTime = duty("EU73-GEN", detected, late, report("2026-11-10T09:00:00Z"));
    expect(inTime).toMatchObject({ status: "met", isRecordedLate: false });
  });

  test("however many there are; one in time moves the time that was known", () => {
    const again = aware("2026-11-29T09:00:01", "2026-11-28T00:00:00Z", "n");
    expect(duty("EU73-GEN", detected, late, again)).toMatchObject({ isRecordedLate: true });
    const timely = aware("2026-11-15T09:00:00", "2026-11-14T00:00:00Z");
    const found = duty("EU73-GEN", detected, timely);
    expect(found).toMatchObject({ startedRecorded: "2026-11-15T09:00:00", isRecordedLate: false });
    expect(duty("EU73-GEN", detected, timely, again)).toMatchObject({ isRecordedLate: false });
  });

  test("an earlier one that was recorded late leaves less time, and is not late", () => {
    const found = duty("EU73-GEN", detected, aware("2026-11-20T09:00:00", "2026-10-30T00:00:00Z"));
    expect(found).toMatchObject({ startedAt: "2026-10-30T00:00:00", isRecordedLate: false });
  });
});
