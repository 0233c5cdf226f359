/** What an auditor reads of obligations whose events came late, too late, or not at all; and waivers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { dataFolder } from "../support/process.ts";
import { type Answer, event, startTestService, type TestService } from "../support/service.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ CHECKPOINT_INTERVAL: "300ms" });
});
afterAll(() => service[Symbol.asyncDispose]());

const SCOPES = ["events:write", "events:read", "obligations:waive"];

/** A tenant of its own, to which events are sent and of which answers are read once they contain them. */
const tenantOf = async (name: string, at: () => TestService = () => service) => {
  const key = await at().makeKey(name, SCOPES);
  let sequence = 0;
  const call = (path: string, body?: object): Promise<Answer> =>
    at().call(path, { key, ...(body && { body }) });
  const read = (path: string, end: number) =>
    call(`${path}${path.includes("?") ? "&" : "?"}min_sequence=${end}`);
  return {
    call,
    send: async (event_id: string, event_type: string, timestamp: string, members: object) => {
      const { json } = await call("/v1/events", event({ event_id, event_type, timestamp, ...members }));
      sequence = json.data.sequence;
    },
    read: async (path: string, end = sequence) => (await read(path, end)).json.data,
    bundle: async () => {
      const url = `${at().url}/v1/evidence?min_sequence=${sequence}`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      const files = unzipSync(new Uint8Array(await answer.arrayBuffer()));
      const text = (file: string): string => new TextDecoder().decode(files[file]);
      return { csv: text("obligations.csv"), summary: text("summary.html") };
    },
  };
};

describe("an obligation that is met in time by an event that was sent after the due time", () => {
  test("is met, and recorded late in the list, the dossier and the bundle", async () => {
    const { send, read, bundle } = await tenantOf("late-record");
    const gdpr = { legal_bases: ["gdpr_art_22"] };
    const about = { decision_id: "d1", objection_id: "o1" };
    await send("evt_made", "decision.automated_decision_made", daysAgo(41), { ...gdpr, metadata: about });
    await send("evt_objected", "objection.received", daysAgo(40), { ...gdpr, metadata: about });
    const [before] = await read("/v1/obligations?rule=GDPR-12-3");
    expect(before).toMatchObject({ state: "overdue", stopped_recorded_at: null, recorded_late: false });
    expect(Date.parse(before.started_recorded_at)).toBeGreaterThan(Date.now() - DAY_MS);
    expect(await read("/v1/obligations?recorded_late=true")).toEqual([]);
    expect((await bundle()).summary).toContain("None was recorded late.");

    const answeredAt = daysAgo(39);
    await send("evt_answered", "objection.resolved", answeredAt, { metadata: about });
    const [after] = await read("/v1/obligations?rule=GDPR-12-3");
    expect(after).toMatchObject({ state: "met", stopped_by: "evt_answered", recorded_late: true });
    expect(Date.parse(after.stopped_at)).toBe(Date.parse(answeredAt));
    expect(Date.parse(after.stopped_recorded_at)).toBeGreaterThan(Date.parse(after.due_at) + DAY_MS);
    const late = await read("/v1/obligations?recorded_late=true&order=asc");
    expect(late).toContainEqual(after);
    for (const each of late) expect(each).toMatchObject({ state: "met", recorded_late: true });
    const dossier = await read("/v1/decisions/d1");
    expect(dossier.obligations).toContainEqual(after);

    const { csv, summary } = await bundle();
    const [head = "", ...rows] = csv.trim().split("\r\n");
    const columns = head.replace(/^\uFEFF/, "").split(",");
    const row = rows.find((each) => each.startsWith("GDPR-12-3:"))?.split(",") ?? [];
    const cell = (name: string) => row[columns.indexOf(name)];
    expect([cell("rule"), cell("state"), cell("recorded_late")]).toEqual(["GDPR-12-3", "met", "true"]);
    expect(cell("stopped_recorded_at")).toBe(after.stopped_recorded_at);
    const first = summary.slice(0, summary.indexOf("What it covers"));
    expect(first).toContain(`<strong>${late.length} obligations recorded late</strong>`);
    expect(summary).toContain("<strong>late</strong>");
  });
});

describe("an obligation that has more time by an event that was sent after the due time", () => {
  test("shows when an extension was recorded, and that it was late", async () => {
    const { send, read, bundle } = await tenantOf("late-extension");
    const about = { metadata: { objection_id: "o1" } };
    await send("evt_objected", "objection.received", daysAgo(38), { ...about, legal_bases: ["gdpr_art_22"] });
    const row = async () => (await read("/v1/obligations?rule=GDPR-12-3"))[0];
    expect(await row()).toMatchObject({ state: "overdue", extended_recorded_at: null, recorded_late: false });
    await send("evt_extended", "objection.acknowledged", daysAgo(20), {
      metadata: { objection_id: "o1", extension_days: 60, reason: "Many requests" },
    });
    const extended = await row();
    expect(extended).toMatchObject({ state: "extended", recorded_late: true });
    expect(Date.parse(extended.extended_recorded_at)).toBeGreaterThan(Date.now() - DAY_MS);
    await send("evt_answered", "objection.resolved", daysAgo(0), about);
    expect(await row()).toMatchObject({ state: "met", recorded_late: true });
    expect((await bundle()).csv).toContain(extended.extended_recorded_at);
  });

  test("shows when the awareness was recorded from which an incident counts, and that it was late", async () => {
    const { send, read } = await tenantOf("late-awareness");
    const about = { incident_id: "i1" };
    await send("evt_detected", "incident.detected", daysAgo(28), { metadata: about });
    const [before] = await read("/v1/obligations");
    expect(before).toMatchObject({ state: "overdue", recorded_late: false });
    await send("evt_mitigated", "incident.mitigated", daysAgo(1), {
      metadata: { ...about, aware_at: daysAgo(2) },
    });
    const [after] = await read("/v1/obligations");
    expect(after).toMatchObject({ state: "open", started_by: "evt_detected", recorded_late: true });
    const [incident] = await read("/v1/registers/incidents");
    expect(before.started_recorded_at).toBe(incident.detected_recorded_at);
    expect(after.started_recorded_at).toBe(incident.aware_recorded_at);
  });
});

describe("a notice that had to come before the decision", () => {
  test("has such a row without a name too: the first to the person, until a decision is made after it", async () => {
    const { send, read } = await tenantOf("nameless-notices");
    const law = { legal_bases: ["nyc_ll144"], subject_hash: `sha256:${"c".repeat(64)}` };
    const rows = async () =>
      (await read("/v1/obligations?rule=LL144-NOTICE")).map((row: Readonly<Record<string, unknown>>) => [
        row.obligation_id,
        row.state,
        row.earliest_decision_at,
      ]);
    const earliest = "2026-11-16T05:00:00Z";
    await send("evt_later", "disclosure_shown", "2026-11-03T15:00:00Z", law);
    expect(await rows()).toEqual([["LL144-NOTICE:evt_later", "open", "2026-11-17T05:00:00Z"]]);
    await send("evt_first", "transparency.notice_shown", "2026-11-02T15:00:00Z", law);
    await send("evt_last", "transparency.notice_shown", "2026-11-04T15:00:00Z", law);
    await send("evt_before", "decision.automated_decision_made", "2026-11-01T15:00:00Z", {
      subject_hash: law.subject_hash,
    });
    expect(await rows()).toEqual([["LL144-NOTICE:evt_first", "open", earliest]]);
    await send("evt_made", "decision.automated_decision_made", "2026-11-16T15:00:00Z", law);
    expect(await rows()).toEqual([["LL144-NOTICE:evt_made", "met", earliest]]);
    await send("evt_early", "decision.automated_decision_made", "2026-11-05T15:00:00Z", law);
    expect((await rows()).toSorted()).toEqual([
      ["LL144-NOTICE:evt_early", "breached", earliest],
      ["LL144-NOTICE:evt_made", "met", earliest],
    ]);
  });

  test("has a row with the earliest time of the decision before there is one, and is breached by an early one", async () => {
    const { send, read, bundle } = await tenantOf("notices");
    const law = { legal_bases: ["nyc_ll144"], correlation_id: "application-1" };
    await send("evt_notice", "transparency.notice_shown", "2026-11-02T15:00:00Z", law);
    const [waiting] = await read("/v1/obligations?rule=LL144-NOTICE&state=open");
    expect(waiting).toMatchObject({
      obligation_id: "LL144-NOTICE:evt_notice",
      earliest_decision_at: "2026-11-16T05:00:00Z",
      stopped_at: null,
    });
    expect(await read("/v1/obligations?state=overdue,due_soon,breached")).toEqual([]);
    const ofNotice = { law: "nyc_ll144", duty: "notice" };
    const counted = async () =>
      (await read("/v1/coverage")).find(
        (each: typeof ofNotice) => each.law === ofNotice.law && each.duty === ofNotice.duty,
      );
    expect(await counted()).toMatchObject({ due: 0, pending: 1, unmet: 0, ratio: null, state: "pending" });

    await send("evt_made", "decision.automated_decision_made", "2026-11-10T15:00:00Z", {
      ...law,
      metadata: { decision_id: "d1" },
    });
    const [breached] = await read("/v1/obligations?rule=LL144-NOTICE&state=breached");
    expect(breached).toMatchObject({
      obligation_id: "LL144-NOTICE:evt_notice",
      decision_id: "d1",
      due_at: "2026-11-10T15:00:00Z",
      earliest_decision_at: "2026-11-16T05:00:00Z",
      state: "breached",
    });
    expect(await read("/v1/obligations?state=overdue")).toEqual([]);
    expect(await counted()).toMatchObject({ due: 1, in_time: 0, unmet: 1, pending: 0, ratio: 0 });
    expect((await bundle()).summary).toContain("none overdue, 1 breached");
  });
});

describe("a waiver", () => {
  const reviewed = async (name: string, at?: () => TestService) => {
    const tenant = await tenantOf(name, at);
    await tenant.send("evt_review", "decision.human_review_triggered", daysAgo(30), {
      metadata: { decision_id: "d1" },
    });
    expect(await tenant.read("/v1/obligations")).toMatchObject([{ state: "overdue" }]);
    return tenant;
  };
  const PATH = "/v1/obligations/HR-CLOSE%3Aevt_review";
  const reason = "The candidate has withdrawn";

  test("says who, why and when, is counted apart, is never hidden, and can be taken back", async () => {
    const { call, read, bundle } = await reviewed("waiving");
    const waived = await call(`${PATH}/waive`, { reason });
    expect(waived.status).toBe(200);
    const said = { state: "waived", waived_by: expect.stringMatching(/^\w{12}$/), waived_reason: reason };
    expect(waived.json.data).toMatchObject(said);
    expect(Date.parse(waived.json.data.waived_at)).toBeGreaterThan(Date.now() - DAY_MS);
    const { state: _, ...row } = waived.json.data;
    expect(await read("/v1/obligations?state=waived")).toMatchObject([row]);
    expect(await read("/v1/obligations")).toHaveLength(1);
    expect(await read("/v1/obligations?state=open,due_soon,overdue,breached")).toEqual([]);
    const [counted] = await read("/v1/coverage?law=policy&duty=human_review");
    expect(counted).toMatchObject({ due: 0, unmet: 0, pending: 0, waived: 1, ratio: null });
    const { csv, summary } = await bundle();
    expect(csv).toContain(reason);
    expect(summary).toContain(reason);
    expect((await read("/v1/decisions/d1")).obligations).toMatchObject([row]);

    const unwaived = await call(`${PATH}/unwaive`, { reason: "They are back" });
    expect(unwaived.json.data).toMatchObject({ state: "overdue", waived_at: null, waived_reason: null });
    const [again] = await read("/v1/coverage?law=policy&duty=human_review");
    expect(again).toMatchObject({ due: 1, unmet: 1, waived: 0 });
  });

  test("needs an obligation that is not met, a reason, and a key with the scope", async () => {
    const { call, send, read } = await reviewed("refusals");
    const refused = async (path: string, body: object) => {
      const { status, json } = await call(path, body);
      return [status, json.code];
    };
    expect(await refused("/v1/obligations/HR-CLOSE%3Aevt_other/waive", { reason })).toEqual([
      404,
      "not_found",
    ]);
    for (const body of [{}, { reason: "" }, { reason: "x".repeat(1001) }, { reason, more: 1 }])
      expect(await refused(`${PATH}/waive`, body)).toEqual([400, "invalid_request"]);
    const conflict = [409, "obligation_state_conflict"];
    expect(await refused(`${PATH}/unwaive`, { reason })).toEqual(conflict);
    await call(`${PATH}/waive`, { reason });
    expect(await refused(`${PATH}/waive`, { reason })).toEqual(conflict);
    await call(`${PATH}/unwaive`, { reason });
    await send("evt_done", "decision.human_review_completed", daysAgo(29), {
      metadata: { decision_id: "d1" },
    });
    expect(await read("/v1/obligations")).toMatchObject([{ state: "met" }]);
    expect(await refused(`${PATH}/waive`, { reason })).toEqual(conflict);
    const key = await service.makeKey("refusals", ["events:write", "events:read", "keys:manage"]);
    const { status, json } = await service.call(`${PATH}/waive`, { key, body: { reason } });
    expect([status, json.code]).toEqual([403, "insufficient_scope"]);
    const other = await service.makeKey("another", SCOPES);
    expect((await service.call(`${PATH}/waive`, { key: other, body: { reason } })).status).toBe(404);
  });

  test("stays with its objection when an earlier event starts it, and can be taken back and said again", async () => {
    const { call, send, read } = await tenantOf("earlier-start");
    const about = { legal_bases: ["gdpr_art_22"], metadata: { objection_id: "o1" } };
    await send("evt_e1", "objection.received", daysAgo(40), about);
    await read("/v1/obligations");
    expect((await call("/v1/obligations/GDPR-12-3%3Aevt_e1/waive", { reason })).status).toBe(200);
    await send("evt_e0", "objection.received", daysAgo(41), about);
    const rows = () => read("/v1/obligations?rule=GDPR-12-3");
    const row = { obligation_id: "GDPR-12-3:evt_e0", started_by: "evt_e0" };
    expect(await rows()).toMatchObject([{ ...row, state: "waived", waived_reason: reason }]);
    const again = "/v1/obligations/GDPR-12-3%3Aevt_e0";
    expect(await call(`${again}/waive`, { reason })).toMatchObject({ status: 409 });
    const unwaived = await call(`${again}/unwaive`, { reason });
    expect(unwaived.json.data).toMatchObject({ ...row, state: "overdue", waived_at: null });
    const waived = await call(`${again}/waive`, { reason: "For good" });
    expect(waived.json.data).toMatchObject({ ...row, state: "waived", waived_reason: "For good" });
  });

  test("of a step takes it out of what is missing and what is pending", async () => {
    const { call, send, read } = await tenantOf("waived-steps");
    const about = { legal_bases: ["pipa_37_2_kr"], metadata: { decision_id: "d1", objection_id: "o1" } };
    const asks = { ...about, metadata: { ...about.metadata, objection_type: "explanation_request" } };
    await send("evt_notice", "transparency.notice_shown", daysAgo(61), about);
    await send("evt_made", "decision.automated_decision_made", daysAgo(60), about);
    await send("evt_asked", "objection.received", daysAgo(59), asks);
    await send("evt_review", "decision.human_review_triggered", daysAgo(58), about);
    const steps = async () => {
      const { missing, pending } = await read("/v1/decisions/d1");
      return { missing, pending };
    };
    const missing = ["explanation", "objection_resolution", "human_review"];
    expect(await steps()).toEqual({ missing, pending: [] });
    for (const id of ["PIPA-EXPL:evt_asked", "HR-CLOSE:evt_review"])
      expect(await call(`/v1/obligations/${encodeURIComponent(id)}/waive`, { reason })).toMatchObject({
        status: 200,
      });
    expect(await steps()).toEqual({ missing: [], pending: [] });
    await call("/v1/obligations/HR-CLOSE%3Aevt_review/unwaive", { reason });
    expect(await steps()).toEqual({ missing: ["human_review"], pending: [] });
    for (const [decision_id, legal_bases, left] of [
      ["d2", ["nyc_ll144"], []],
      ["d3", ["nyc_ll144", "gdpr_art_22"], ["notice"]],
    ]) {
      await send(`evt_${decision_id}`, "decision.automated_decision_made", daysAgo(9), {
        legal_bases,
        metadata: { decision_id },
      });
      expect((await read(`/v1/decisions/${decision_id}`)).missing).toEqual(["notice"]);
      await call(`/v1/obligations/LL144-NOTICE%3Aevt_${decision_id}/waive`, { reason });
      expect((await read(`/v1/decisions/${decision_id}`)).missing).toEqual(left);
    }
  });

  test("stands against others that are said at the same time, which are refused", async () => {
    const { call, read } = await reviewed("waived-at-once");
    const reasons = Array.from({ length: 8 }, (_, index) => `Reason ${index}`);
    const answers = await Promise.all(reasons.map((each) => call(`${PATH}/waive`, { reason: each })));
    const [won, ...others] = answers.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    const codes = answers.flatMap(({ status, json }) => (status === 200 ? [] : [json.code]));
    expect(codes).toEqual(reasons.slice(1).map(() => "obligation_state_conflict"));
    expect(await read("/v1/obligations")).toMatchObject([{ waived_reason: won?.json.data.waived_reason }]);
  });

  test("stands after the views were rebuilt from the log", async () => {
    await using folder = await dataFolder();
    const DATA_DIR = folder.path;
    let running = await startTestService({ DATA_DIR });
    const { call, read } = await reviewed("waiving", () => running);
    await call(`${PATH}/waive`, { reason });
    const before = await read("/v1/obligations?state=waived");
    expect(before).toHaveLength(1);
    await running[Symbol.asyncDispose]();
    for (const file of ["views.sqlite", "views.sqlite-wal", "views.sqlite-shm"])
      await rm(join(DATA_DIR, file), { force: true });
    running = await startTestService({ DATA_DIR });
    await using _started = running;
    const { log_last_sequence: end } = (await running.call("/v1/reconciliation")).json.data;
    expect(await read("/v1/obligations?state=waived", end)).toEqual(before);
  });
});
