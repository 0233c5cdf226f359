/** One subject, one decision, and its consequences: notices, explanation, human review, objection. */
import { createHash } from "node:crypto";
import { createChance } from "./chance.ts";
import { DAY_MS, dueAfter, HOUR_MS, isLate, text } from "./local-time.ts";
import { type Asset, count, duty, type Happened, NO_NOTICE, type Shares, say, type World } from "./world.ts";

/** A notice for everybody, without any reference, and an acknowledgement of a notice that nobody sent. */
export const liveLooseNotices = (world: World, asset: Asset, begin: number): void => {
  const at = begin + DAY_MS;
  const shown = say(world, asset, "disclosure_shown", at, {
    metadata: { channel: "web", policy_version: "3" },
  });
  const about = { ...NO_NOTICE, asset_id: asset.id };
  world.notices.push({
    ...about,
    notice_id: shown,
    channel: "web",
    policy_version: "3",
    shown_at: text(at),
    state: "shown",
  });
  const correlation_id = `visit_${asset.id}`;
  const orphan = say(world, asset, "disclosure_acknowledged", at + 1000, { correlation_id });
  world.notices.push({
    ...about,
    notice_id: orphan,
    correlation_id,
    acknowledged_at: text(at + 1000),
    state: "orphan",
  });
};

interface NoticeMembers {
  readonly correlation_id?: string;
  readonly metadata?: { readonly decision_id: string };
}

/** The notice before a decision, under its correlation; the person may answer it, may see another one after the decision, which names it, and may answer that. */
const liveNotice = (
  world: World,
  asset: Asset,
  parts: {
    readonly at: number;
    readonly decidedAt: number;
    readonly byCorrelation: NoticeMembers;
    readonly byDecision: NoticeMembers;
  },
): void => {
  const { aside, shares } = world;
  const show = (shownAt: number, members: NoticeMembers) => {
    const locale = aside.one(["ko", "en"]);
    const metadata = { ...members.metadata, notice_channel: "in_app", locale, policy_version: "4" };
    const notice_id = say(world, asset, "transparency.notice_shown", shownAt, { ...members, metadata });
    const answer = aside.is(shares.answer) ? aside.one(["dismissed", "acknowledged"]) : undefined;
    // Before the decision, which follows at least a second later.
    const answeredAt = shownAt + 500;
    if (answer !== undefined) {
      const type = answer === "dismissed" ? "transparency.notice_dismissed" : "disclosure_acknowledged";
      say(world, asset, type, answeredAt, { ...members });
    }
    world.notices.push({
      ...NO_NOTICE,
      notice_id,
      asset_id: asset.id,
      correlation_id: members.correlation_id ?? null,
      decision_id: members.metadata?.decision_id ?? null,
      channel: "in_app",
      locale,
      policy_version: "4",
      shown_at: text(shownAt),
      ...(answer !== undefined && { [`${answer}_at`]: text(answeredAt) }),
      state: answer ?? "shown",
    });
  };
  show(parts.at, parts.byCorrelation);
  if (aside.is(shares.answer / 2)) show(parts.decidedAt + HOUR_MS / 2, parts.byDecision);
};

export const subjectsOf = (seed: number, persons: number, { nobody }: Shares): (() => string) => {
  const chance = createChance(seed + 2_000_000);
  const hashOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
  return () => hashOf(chance.is(nobody) ? "" : `${seed}:${chance.below(persons)}`);
};

/** One subject, one decision, and its consequences. */
export const liveCase = (world: World, asset: Asset, number: number, begin: number): void => {
  const { chance } = world;
  const decisionId = `dec_${asset.id}_${number}`;
  const correlation = `case_${asset.id}_${number}`;
  const subject = world.nextSubject();
  const byCorrelation = { correlation_id: correlation, subject_hash: subject };
  const byDecision = { subject_hash: subject, metadata: { decision_id: decisionId } };
  const at = begin + 2 * DAY_MS + chance.below(180 * 24) * HOUR_MS + chance.below(HOUR_MS);
  const noticeAt = chance.is(world.shares.notice) ? at - 1000 - chance.below(HOUR_MS) : undefined;
  if (noticeAt !== undefined)
    liveNotice(world, asset, { at: noticeAt, decidedAt: at, byCorrelation, byDecision });
  const dutiesBefore = world.duties.length;
  const outcome = chance.one(["approved", "denied"]);
  const made = say(world, asset, "decision.automated_decision_made", at, {
    ...byCorrelation,
    legal_bases: asset.bases,
    risk_tier: "limited",
    asset_version: "1.0",
    metadata: { decision_id: decisionId, outcome, model: "scorer" },
  });
  for (const law of ["any", ...asset.bases])
    count(world, asset, law, "notice", noticeAt === undefined ? "open" : "met");
  const explanation = liveExplanation(world, asset, { at, outcome, made, byDecision });
  const review = liveReview(world, asset, { at, outcome, subject, correlation: byCorrelation, decisionId });
  const objected = chance.is(world.shares.objection)
    ? liveObjection(world, asset, {
        at,
        decisionId,
        correlation,
        subject,
        number,
        explanation,
        review: review.completed,
      })
    : undefined;
  // All of them are about this decision.
  const open = world.duties.slice(dutiesBefore).filter(({ status }) => status === "open");
  const dueOf = (rule: RegExp): string | undefined =>
    open
      .filter(({ obligation_id }) => rule.test(obligation_id))
      .map(({ due_at }) => due_at)
      .sort()[0];
  const isUnexplained = open.some(({ obligation_id }) => EXPLANATION.test(obligation_id));
  const due: (readonly [step: string, dueAt: string | undefined])[] = [];
  if (isUnexplained) due.push(["explanation", dueOf(EXPLANATION)]);
  if (objected && !objected.isResolved)
    due.push(["objection_resolution", dueOf(/^PIPA-(EXPL|REFUSE|REVIEW):/)]);
  if (review.triggered && !review.completed) due.push(["human_review", dueOf(/^HR-CLOSE:/)]);
  const steps = Map.groupBy(due, ([, dueAt]) => dueAt !== undefined && isLate(world.now, dueAt));
  const stepsOf = (isMissing: boolean) => (steps.get(isMissing) ?? []).map(([step]) => step);
  world.decisions.push({
    asset_version: "1.0",
    correlation_id: correlation,
    subject_hash: subject,
    risk_tier: "limited",
    obligations_open: open.length,
    missing: [...(noticeAt === undefined ? ["notice"] : []), ...stepsOf(true)],
    pending: stepsOf(false),
    decision_id: decisionId,
    asset_id: asset.id,
    made_at: text(at),
    outcome,
    notice_at: noticeAt === undefined ? null : text(noticeAt),
    explanation_at: explanation ? text(explanation.at) : null,
    review_triggered_at: review.triggered ? text(review.triggered.at) : null,
    review_completed_at: review.completed ? text(review.completed.at) : null,
    reversed_at: objected?.reversedAt ?? null,
    objections: objected ? 1 : 0,
  });
};

/** Rules by which an explanation is due. */
const EXPLANATION = /^(PIPA-EXPL|CO-ADVERSE):/;

const liveExplanation = (
  world: World,
  asset: Asset,
  { at, outcome, made, byDecision }: { at: number; outcome: string; made: string; byDecision: object },
): Happened | undefined => {
  const { chance } = world;
  const explainedAt = at + HOUR_MS + chance.below(50 * 24) * HOUR_MS;
  const explanation = chance.is(world.shares.explanation)
    ? {
        at: explainedAt,
        id: say(world, asset, "decision.explanation_provided", explainedAt, { ...byDecision }),
      }
    : undefined;
  // Colorado's act applies from 1 January 2027.
  if (outcome === "denied" && asset.bases.includes("colorado_sb26_189") && text(at) >= "2027-01-01") {
    const due = dueAfter(at, 30, "denver");
    duty(world, asset, {
      rule: "CO-ADVERSE",
      law: "colorado_sb26_189",
      duty: "explanation",
      startedBy: made,
      due,
      stop: explanation,
    });
  }
  return explanation;
};

const liveReview = (
  world: World,
  asset: Asset,
  parts: { at: number; outcome: string; subject: string; correlation: object; decisionId: string },
): { triggered: Happened | undefined; completed: Happened | undefined } => {
  const { chance } = world;
  const { at, outcome, correlation, decisionId } = parts;
  if (!chance.is(world.shares.review)) return { triggered: undefined, completed: undefined };
  const triggeredAt = at + 2 * HOUR_MS;
  const triggered = {
    at: triggeredAt,
    id: say(world, asset, "decision.human_review_triggered", triggeredAt, {
      ...correlation,
      metadata: { triggered_by: "user_refusal" },
    }),
  };
  const completedAt = triggeredAt + (1 + chance.below(14 * 24)) * HOUR_MS;
  const completed = chance.is(0.8)
    ? {
        at: completedAt,
        id: say(world, asset, "decision.human_review_completed", completedAt, {
          metadata: { original_decision_id: decisionId, reviewer_id: "r1", final_outcome: "approved" },
        }),
      }
    : undefined;
  const due = dueAfter(triggeredAt, 10, "utc");
  duty(world, asset, {
    rule: "HR-CLOSE",
    law: "policy",
    duty: "human_review",
    startedBy: triggered.id,
    due,
    stop: completed,
  });
  world.reviews.push({
    review_id: triggered.id,
    decision_id: decisionId,
    state: completed ? "completed" : "open",
    triggered_at: text(triggeredAt),
    completed_at: completed ? text(completedAt) : null,
    asset_id: asset.id,
    subject_hash: parts.subject,
    triggered_by: "user_refusal",
    reviewer_id: completed ? "r1" : null,
    decision_outcome: outcome,
    final_outcome: completed ? "approved" : null,
    // Whole hours, as they were drawn.
    hours: completed ? (completedAt - triggeredAt) / HOUR_MS : null,
    changed: completed ? outcome !== "approved" : null,
  });
  return { triggered, completed };
};

const first = (...happened: readonly (Happened | undefined)[]): Happened | undefined =>
  happened.filter((each) => each !== undefined).sort((one, other) => one.at - other.at)[0];

const liveObjection = (
  world: World,
  asset: Asset,
  parts: {
    at: number;
    decisionId: string;
    correlation: string;
    subject: string;
    number: number;
    explanation: Happened | undefined;
    review: Happened | undefined;
  },
): { reversedAt: string | null; isResolved: boolean } => {
  const { chance } = world;
  const { at, decisionId, number } = parts;
  const objectionId = `obj_${asset.id}_${number}`;
  const type = chance.one(["explanation_request", "automated_decision_refusal", "appeal"]);
  const receivedAt = at + DAY_MS + chance.below(5 * 24) * HOUR_MS;
  const named = { metadata: { objection_id: objectionId } };
  const received = say(world, asset, "objection.received", receivedAt, {
    subject_hash: parts.subject,
    legal_bases: ["pipa_37_2_kr"],
    metadata: { objection_id: objectionId, decision_id: decisionId, objection_type: type },
  });
  const acknowledgedAt = receivedAt + chance.below(7 * 24) * HOUR_MS;
  const isExtended = chance.is(0.25);
  const acknowledged: Happened | undefined = chance.is(0.7)
    ? {
        at: acknowledgedAt,
        id: say(world, asset, "objection.acknowledged", acknowledgedAt, {
          metadata: { ...named.metadata, ...(isExtended && { extension_days: 20, reason: "many at once" }) },
        }),
      }
    : undefined;
  const escalatedAt = world.aside.is(0.2) ? receivedAt + 7 * DAY_MS : undefined;
  if (escalatedAt !== undefined) say(world, asset, "objection.escalated", escalatedAt, named);
  const isReversed = chance.is(0.3);
  const reversedAt = receivedAt + 8 * DAY_MS;
  const reversed = isReversed
    ? {
        at: reversedAt,
        id: say(world, asset, "decision.decision_reversed", reversedAt, {
          metadata: { decision_id: decisionId },
        }),
      }
    : undefined;
  const resolution = isReversed ? "upheld" : chance.one(["upheld", "denied"]);
  const resolvedAt = receivedAt + 9 * DAY_MS + chance.below(60 * 24) * HOUR_MS;
  const hasReason = chance.is(0.7);
  const resolved: Happened | undefined = chance.is(0.75)
    ? {
        at: resolvedAt,
        id: say(world, asset, "objection.resolved", resolvedAt, {
          metadata: { ...named.metadata, resolution, ...(hasReason && { reason: "checked by a person" }) },
        }),
      }
    : undefined;
  const after = (each: Happened | undefined) => (each && each.at >= receivedAt ? each : undefined);
  const deniedWithReason = resolved && resolution === "denied" && hasReason ? resolved : undefined;
  const redone = first(after(reversed), after(parts.review));
  const bothDone = redone && resolved ? (redone.at > resolved.at ? redone : resolved) : undefined;
  const answers = {
    explanation_request: {
      rule: "PIPA-EXPL",
      duty: "explanation",
      stop: first(after(parts.explanation), deniedWithReason),
    },
    automated_decision_refusal: {
      rule: "PIPA-REFUSE",
      duty: "objection",
      stop: deniedWithReason ?? bothDone,
    },
    appeal: { rule: "PIPA-REVIEW", duty: "objection", stop: resolved },
  };
  const law = "pipa_37_2_kr";
  const answer = answers[type as keyof typeof answers];
  // If the person already has the answer, no extension is told.
  const isTold = acknowledged && isExtended && (!answer.stop || acknowledged.at <= answer.stop.at);
  const extensions = isTold ? 1 : 0;
  const due = dueAfter(receivedAt, 30 + (isTold ? 20 : 0), "seoul");
  duty(world, asset, { ...answer, law, startedBy: received, due });
  duty(world, asset, {
    rule: "OBJ-ACK",
    law: "policy",
    duty: "objection_acknowledgement",
    startedBy: received,
    due: dueAfter(receivedAt, 3, "utc", "business"),
    stop: first(acknowledged, resolved),
  });
  if (resolved && resolution === "denied")
    duty(world, asset, {
      rule: "PIPA-DENY",
      law,
      duty: "denial_reason",
      startedBy: resolved.id,
      due: dueAfter(resolved.at, 0, "seoul"),
      stop: hasReason ? resolved : undefined,
    });
  const firstState = acknowledged ? "acknowledged" : "received";
  world.objections.push({
    objection_id: objectionId,
    decision_id: decisionId,
    correlation_id: parts.correlation,
    objection_type: type,
    asset_id: asset.id,
    subject_hash: parts.subject,
    state: resolved ? "resolved" : escalatedAt !== undefined ? "escalated" : firstState,
    received_at: text(receivedAt),
    acknowledged_at: acknowledged ? text(acknowledged.at) : null,
    escalated_at: escalatedAt === undefined ? null : text(escalatedAt),
    reason: resolved && hasReason ? "checked by a person" : null,
    resolved_at: resolved ? text(resolved.at) : null,
    resolution: resolved ? resolution : null,
    due_at: due,
    extensions,
    extension_reasons: extensions === 1 ? ["many at once"] : [],
    days: resolved ? Math.round((100 * (resolved.at - receivedAt)) / DAY_MS) / 100 : null,
    late: isLate(answer.stop?.at ?? world.now, due),
  });
  return { reversedAt: reversed ? text(reversed.at) : null, isResolved: resolved !== undefined };
};
