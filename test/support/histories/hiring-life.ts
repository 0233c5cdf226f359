import { assessed, audited, aYearAfter } from "./asset-life.ts";
import type { KnownAudit } from "./known-history.ts";
import { DAY_MS, dateIn, dueAfter, HOUR_MS, text } from "./local-time.ts";
import { type Asset, count, type Happened, NO_NOTICE, say, type World } from "./world.ts";

/** Decisions for which New York's law requires a notice and a bias audit, and the audits: some too late, some never repeated. */
export const liveHiring = (world: World, asset: Asset, begin: number): void => {
  const { chance } = world;
  const audits = [begin - (190 + chance.below(29)) * DAY_MS];
  if (chance.is(0.5)) audits.push(begin + (140 + chance.below(60)) * DAY_MS);
  for (const [index, at] of audits.entries()) liveAudit(world, asset, at + chance.below(24) * HOUR_MS, index);
  completeAtOnce(world, asset, begin + DAY_MS);
  const own = world.audits.filter(({ asset_id }) => asset_id === asset.id);
  for (let number = 0; number < 12; number++) {
    const at = begin + 2 * DAY_MS + chance.below(198 * 24) * HOUR_MS + chance.below(HOUR_MS);
    liveHire(world, asset, { at, number });
    countAudit(world, asset, own, at);
  }
  // One notice of an application, and several decisions on it: nothing says which of them the notice is for.
  const correlation_id = `application_${asset.id}`;
  const noticeAt = begin + (30 + chance.below(60)) * DAY_MS + chance.below(DAY_MS / 1000) * 1000;
  const of = { correlation_id, legal_bases: ["eu_ai_act_art_50"] };
  world.notices.push({
    ...NO_NOTICE,
    notice_id: say(world, asset, "disclosure_shown", noticeAt, of),
    asset_id: asset.id,
    correlation_id,
    shown_at: text(noticeAt),
    state: "shown",
  });
  for (const days of [-2, 3, 40, 41]) {
    const at = noticeAt + days * DAY_MS;
    const decisionId = `application_${asset.id}_${days}`;
    hired(world, asset, { at, decisionId, notice: undefined, correlation_id });
    countAudit(world, asset, own, at);
  }
};

const countAudit = (world: World, asset: Asset, audits: readonly KnownAudit[], at: number): void => {
  const used = dateIn("newYork", at);
  const isAudited = audits.some(({ first, last }) => first <= used && used <= last);
  count(world, asset, "nyc_ll144", "bias_audit", isAudited ? "met" : "open");
};

/** An assessment without a started event. */
const completeAtOnce = (world: World, asset: Asset, at: number): void => {
  const kind = { assessment_id: `fria_${asset.id}`, assessment_type: "fria" };
  say(world, asset, "assessment.impact_assessment_completed", at, { metadata: kind });
  assessed(asset, at);
  world.assessments.push({
    ...kind,
    asset_id: asset.id,
    state: "completed",
    started_at: null,
    completed_at: text(at),
    valid_until: null,
    checklist: [],
  });
};

const liveAudit = (world: World, asset: Asset, at: number, index: number): void => {
  const assessment_id = `audit_${asset.id}_${index}`;
  const kind = { assessment_type: "bias_audit" };
  // The type may be given at the start or at the completion.
  const saysAtFirst = world.chance.is(0.5);
  say(world, asset, "assessment.impact_assessment_started", at - DAY_MS, {
    metadata: { assessment_id, ...(saysAtFirst && kind) },
  });
  const event_id = say(world, asset, "assessment.impact_assessment_completed", at, {
    metadata: { assessment_id, ...(!saysAtFirst && kind) },
  });
  assessed(asset, at);
  audited(world, asset, { at, event_id });
  world.assessments.push({
    ...kind,
    assessment_id,
    asset_id: asset.id,
    state: "completed",
    started_at: text(at - DAY_MS),
    completed_at: text(at),
    valid_until: aYearAfter(at),
    checklist: [],
  });
};

const liveHire = (world: World, asset: Asset, { at, number }: { at: number; number: number }): void => {
  const { chance } = world;
  const decisionId = `hire_${asset.id}_${number}`;
  const noticeAt = chance.is(0.7) ? at - chance.below(25 * 24) * HOUR_MS : undefined;
  const notice =
    noticeAt === undefined
      ? undefined
      : say(world, asset, "transparency.notice_shown", noticeAt, { metadata: { decision_id: decisionId } });
  if (notice !== undefined && noticeAt !== undefined)
    world.notices.push({
      ...NO_NOTICE,
      notice_id: notice,
      asset_id: asset.id,
      decision_id: decisionId,
      shown_at: text(noticeAt),
      state: "shown",
    });
  const shown = notice === undefined || noticeAt === undefined ? undefined : { at: noticeAt, id: notice };
  hired(world, asset, { at, decisionId, notice: shown });
};

/** The first notice that was shown before the decision. */
const hired = (
  world: World,
  asset: Asset,
  parts: { at: number; decisionId: string; notice: Happened | undefined; correlation_id?: string },
): void => {
  const { at, decisionId, notice, correlation_id } = parts;
  const made = say(world, asset, "decision.automated_decision_made", at, {
    ...(correlation_id !== undefined && { correlation_id }),
    legal_bases: ["nyc_ll144"],
    metadata: { decision_id: decisionId, outcome: "approved" },
  });
  count(world, asset, "any", "notice", notice === undefined ? "open" : "met");
  // The tool may be used from the beginning of the tenth business day after the notice.
  const tenth = notice && dueAfter(notice.at, 10, "newYork", "business");
  const usableAt = tenth === undefined ? undefined : Date.parse(dayBefore(tenth)) + 1000;
  const isInTime = usableAt !== undefined && at >= usableAt;
  const status = isInTime ? "met" : "breached";
  // It begins with the notice, so it is named by it; a later decision on the same notice is named by itself.
  const byNotice = `LL144-NOTICE:${notice?.id}`;
  const isLater = world.duties.some(({ obligation_id }) => obligation_id === byNotice);
  world.duties.push({
    obligation_id: notice === undefined || isLater ? `LL144-NOTICE:${made}` : byNotice,
    due_at: text(isInTime ? usableAt : at),
    status,
    started_by: notice?.id ?? made,
    stopped_by: isInTime ? made : null,
  });
  count(world, asset, "nyc_ll144", "notice", status);
  world.decisions.push({
    decision_id: decisionId,
    asset_id: asset.id,
    made_at: text(at),
    outcome: "approved",
    notice_at: notice ? text(notice.at) : null,
    explanation_at: null,
    review_triggered_at: null,
    review_completed_at: null,
    reversed_at: null,
    objections: 0,
    asset_version: null,
    correlation_id: correlation_id ?? null,
    subject_hash: null,
    risk_tier: null,
    obligations_open: 0,
    missing: notice === undefined ? ["notice"] : [],
    pending: [],
  });
};

/** The same second of the day before, in the same zone if its clocks do not change. */
const dayBefore = (time: string): string => text(Date.parse(time) - DAY_MS);
