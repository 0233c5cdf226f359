/** The life of an AI system: its models, its tier, its impact assessment. */
import { DAY_MS, dateIn, HOUR_MS, text } from "./local-time.ts";
import { type Asset, say, type World } from "./world.ts";

export const liveAsset = (world: World, asset: Asset, begin: number, isCreated: boolean): void => {
  // An asset without a created event has a version too.
  world.coverage.set(`${asset.id} any lifecycle`, {
    required: 2,
    in_time: isCreated ? 2 : 1,
    late: 0,
    running: [],
  });
  world.coverage.set(`${asset.id} any labeling`, { required: 0, in_time: 0, late: 0, running: [] });
  say(world, asset, isCreated ? "asset.created" : "asset.updated", begin, {
    risk_tier: "limited",
    asset_version: "1.0",
    metadata: {
      name: `System ${asset.id}`,
      owner: "Risk team",
      domain: "finance_credit_evaluation",
      oversight_person: { name: "Kim", contact: "oversight@example.com" },
      clauses: "AI Basic Act art. 31",
    },
  });
  say(world, asset, "model.model_deployed", begin + HOUR_MS, {
    asset_version: "1.0",
    metadata: { model: "scorer" },
  });
  if (world.chance.is(0.5)) {
    const at = begin + 200 * DAY_MS;
    const said = { reason: "new use", ruleset_version: "2026.2", actor: "committee" };
    const clauses = ["AI Basic Act art. 2(4)", "EU AI Act Annex III 5(b)"];
    const input = { domain: "finance_credit_evaluation", jurisdictions: ["kr", "eu"] };
    const cited = world.aside.is(0.5) ? { clauses } : { cited_clauses: clauses.map((ref) => ({ ref })) };
    const event_id = say(world, asset, "assessment.risk_classification_changed", at, {
      metadata: { from: "limited", to: "high", ...said, input, ...cited },
    });
    const tiers = { from_tier: "limited", to_tier: "high" };
    world.riskChanges.push({
      event_id,
      asset_id: asset.id,
      at: text(at),
      ...tiers,
      ...said,
      input,
      clauses,
    });
    asset.tier = "high";
    asset.clauses = clauses;
  }
  liveModels(world, asset, begin);
  if (world.chance.is(0.2)) {
    say(world, asset, "asset.archived", begin + 400 * DAY_MS);
    asset.status = "archived";
    asset.done.archived_at = text(begin + 400 * DAY_MS);
  }
};

/** The first model, which may get worse, and may be retired before a second one follows. */
const liveModels = (world: World, asset: Asset, begin: number): void => {
  const degradations = world.aside.below(3);
  const degradedAt = (time: number): number => begin + (100 + time) * DAY_MS;
  for (let time = 1; time <= degradations; time++)
    say(world, asset, "model.performance_degraded", degradedAt(time), { asset_version: "1.0" });
  const isReplaced = world.chance.is(0.4);
  const retiredAt = begin + 205 * DAY_MS;
  const isRetired = isReplaced && world.aside.is(0.5);
  const known = { asset_id: asset.id, retired_at: null, degradations: 0, degraded_at: null };
  world.models.push({
    ...known,
    version: "1.0",
    model: "scorer",
    state: isRetired ? "retired" : "deployed",
    deployed_at: text(begin + HOUR_MS),
    retired_at: isRetired ? text(retiredAt) : null,
    degradations,
    degraded_at: degradations > 0 ? text(degradedAt(degradations)) : null,
  });
  if (isRetired) {
    say(world, asset, "model.model_retired", retiredAt, { asset_version: "1.0" });
    asset.done.retired_at = text(retiredAt);
  }
  if (!isReplaced) return;
  const deployed_at = text(begin + 210 * DAY_MS);
  say(world, asset, "model.model_deployed", begin + 210 * DAY_MS, { asset_version: "2.0" });
  world.models.push({ ...known, version: "2.0", model: null, state: "deployed", deployed_at });
  asset.version = "2.0";
  asset.done.deployed_at = deployed_at;
};

/** An impact assessment whose items are filled in one by one, sometimes as an object and sometimes as an array. */
export const liveAssessment = (world: World, asset: Asset, begin: number): void => {
  const { aside } = world;
  const assessment_id = `asm_${asset.id}`;
  const type = aside.one(["fria", "bias_audit"]);
  const startedAt = begin + 20 * DAY_MS;
  const named = ["affected persons", "measures", "rights at stake"];
  say(world, asset, "assessment.impact_assessment_started", startedAt, {
    metadata: { assessment_id, assessment_type: type, checklist: named },
  });
  const states = new Map<string, unknown>(named.map((item) => [item, null]));
  for (const [index, item] of named.entries()) {
    if (!aside.is(0.6)) continue;
    const state = aside.one<string | boolean | number>([true, "drafted", index]);
    const filled = aside.is(0.5) ? { [item]: state } : [{ item, state }];
    say(world, asset, "assessment.impact_assessment_updated", startedAt + (1 + index) * DAY_MS, {
      metadata: { assessment_id, checklist: filled },
    });
    states.set(item, state);
  }
  const completedAt = startedAt + 30 * DAY_MS;
  const isCompleted = aside.is(0.6);
  if (isCompleted) {
    const metadata = { assessment_id };
    const event_id = say(world, asset, "assessment.impact_assessment_completed", completedAt, { metadata });
    assessed(asset, completedAt);
    if (type === "bias_audit") audited(world, asset, { at: completedAt, event_id });
  }
  world.assessments.push({
    assessment_id,
    asset_id: asset.id,
    assessment_type: type,
    state: isCompleted ? "completed" : "started",
    started_at: text(startedAt),
    completed_at: isCompleted ? text(completedAt) : null,
    valid_until: isCompleted && type === "bias_audit" ? aYearAfter(completedAt) : null,
    checklist: [...states].map(([item, state]) => ({ item, state })),
  });
};

/** Records when this was done last, as the register shows it. */
export const assessed = (asset: Asset, at: number): void => {
  const { assessed_at: before } = asset.done;
  if (before === undefined || Date.parse(before) < at) asset.done.assessed_at = text(at);
};

/** A date in New York. No year of these histories has a 29 February in between. */
export const aYearAfter = (at: number): string => dateIn("newYork", at + 365 * DAY_MS);

/** A year that a bias audit covers, in dates in New York. */
export const audited = (
  world: World,
  asset: Asset,
  done: { readonly at: number; readonly event_id: string },
): void => {
  const first = dateIn("newYork", done.at);
  const last = `${Number(first.slice(0, 4)) + 1}${first.slice(4)}`;
  world.audits.push({ asset_id: asset.id, event_id: done.event_id, first, last });
};
