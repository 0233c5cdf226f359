/**
 * Realistic histories of AI systems, with the answers that follow from them. Deterministic: a seed gives the same history everywhere. The answers
 * come from what the generator itself decided to let happen and from arithmetic of its own, never from the code under test.
 */

import { createHash } from "node:crypto";

/** Beside the types that are always admitted, histories have this one: a service needs it in EXTRA_EVENT_TYPES. */
export const HEARTBEAT = "sdk.heartbeat";

export interface HistoryEvent {
  readonly event_id: string;
  readonly timestamp: string;
  readonly asset_id: string;
  readonly event_type: string;
  readonly [member: string]: unknown;
}

export interface KnownDecision {
  readonly decision_id: string;
  readonly asset_id: string;
  readonly made_at: string;
  readonly outcome: string;
  readonly notice_at: string | null;
  readonly explanation_at: string | null;
  readonly review_triggered_at: string | null;
  readonly review_completed_at: string | null;
  readonly reversed_at: string | null;
  readonly objections: number;
  readonly asset_version: string | null;
  readonly correlation_id: string | null;
  readonly subject_hash: string | null;
  readonly risk_tier: string | null;
  readonly obligations_open: number;
  readonly missing: readonly string[];
}

export interface KnownObjection {
  readonly objection_id: string;
  readonly decision_id: string;
  readonly correlation_id: string;
  readonly asset_id: string;
  readonly subject_hash: string;
  readonly objection_type: string;
  readonly state: string;
  readonly received_at: string;
  readonly acknowledged_at: string | null;
  readonly escalated_at: string | null;
  readonly resolved_at: string | null;
  readonly resolution: string | null;
  readonly reason: string | null;
  readonly due_at: string;
  readonly extensions: number;
  readonly extension_reasons: readonly string[];
  readonly days: number | null;
  readonly late: boolean;
}

export interface KnownNotice {
  readonly notice_id: string;
  readonly asset_id: string;
  readonly correlation_id: string | null;
  readonly decision_id: string | null;
  readonly channel: string | null;
  readonly locale: string | null;
  readonly policy_version: string | null;
  readonly shown_at: string | null;
  readonly dismissed_at: string | null;
  readonly acknowledged_at: string | null;
  readonly state: string;
}

export interface KnownReview {
  readonly review_id: string;
  readonly decision_id: string;
  readonly state: string;
  readonly triggered_at: string;
  readonly completed_at: string | null;
  readonly asset_id: string;
  readonly subject_hash: string;
  readonly triggered_by: string;
  readonly reviewer_id: string | null;
  readonly decision_outcome: string;
  readonly final_outcome: string | null;
  readonly hours: number | null;
  readonly changed: boolean | null;
}

export interface KnownRiskChange {
  readonly event_id: string;
  readonly asset_id: string;
  readonly at: string;
  readonly from_tier: string;
  readonly to_tier: string;
  readonly reason: string;
  readonly ruleset_version: string;
  readonly actor: string;
  readonly input: object;
  readonly clauses: readonly string[];
}

export interface KnownAssessment {
  readonly assessment_id: string;
  readonly asset_id: string;
  readonly assessment_type: string;
  readonly state: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly valid_until: string | null;
  readonly checklist: readonly { readonly item: string; readonly state: unknown }[];
}

export interface KnownDuty {
  readonly obligation_id: string;
  readonly due_at: string;
  readonly status: "open" | "met" | "met_late";
  readonly started_by: string;
  readonly stopped_by: string | null;
}

export interface KnownIncident {
  readonly incident_id: string;
  readonly state: string;
  readonly report_due_at: string;
  readonly initial_report_at: string | null;
  readonly complete_report_at: string | null;
  readonly asset_id: string;
  readonly incident_class: string;
  readonly severity: string;
  readonly detected_at: string;
  readonly authority: string | null;
  readonly mitigated_at: string | null;
  readonly root_cause: string | null;
  readonly affected_count: string | null;
}

export interface KnownModel {
  readonly asset_id: string;
  readonly version: string;
  readonly model: string | null;
  readonly state: string;
  readonly deployed_at: string;
  readonly retired_at: string | null;
  readonly degradations: number;
  readonly degraded_at: string | null;
}

export interface KnownAsset {
  readonly asset_id: string;
  readonly events: number;
  readonly risk_tier: string;
  readonly version: string;
  readonly status: string;
  readonly oversight_person: string;
  readonly oversight_contact: string;
  readonly clauses: readonly string[];
  readonly name: string;
  readonly owner: string;
  readonly domain: string;
  readonly legal_bases: readonly string[];
  readonly first_at: string;
  readonly last_at: string;
  readonly created_at?: string;
  readonly deployed_at: string;
  readonly retired_at?: string;
  readonly archived_at?: string;
  readonly assessed_at?: string;
}

export interface KnownCoverage {
  readonly required: number;
  readonly in_time: number;
  readonly late: number;
}

/** First and last date, in New York, of a year that a bias audit covers. */
export interface KnownAudit {
  readonly asset_id: string;
  readonly event_id: string;
  readonly first: string;
  readonly last: string;
}

export interface KnownGap {
  readonly source_id: string;
  readonly first: number;
  readonly last: number;
  readonly since: string;
}

export interface History {
  /** In the order of their times. */
  readonly events: readonly HistoryEvent[];
  readonly decisions: readonly KnownDecision[];
  readonly objections: readonly KnownObjection[];
  readonly notices: readonly KnownNotice[];
  readonly reviews: readonly KnownReview[];
  readonly riskChanges: readonly KnownRiskChange[];
  readonly assessments: readonly KnownAssessment[];
  readonly models: readonly KnownModel[];
  readonly duties: readonly KnownDuty[];
  readonly incidents: readonly KnownIncident[];
  readonly assets: readonly KnownAsset[];
  /** `asset law duty` → counts. */
  readonly coverage: ReadonlyMap<string, KnownCoverage>;
  readonly audits: readonly KnownAudit[];
  /** Numbers of a source that never came. */
  readonly gaps: readonly KnownGap[];
  /** `day asset type` → events. */
  readonly activity: ReadonlyMap<string, number>;
}

/** How much of what can happen happens. */
export interface Shares {
  readonly notice: number;
  readonly explanation: number;
  readonly review: number;
  readonly objection: number;
  /** Of the notices, those that are dismissed, acknowledged or shown again. */
  readonly answer: number;
  /** Of assets that hire, which needs audits, and that name their outcomes by a hash. */
  readonly audited: number;
  /** Of cases, those whose person is the hash of an empty text, as of SDKs that were handed none. */
  readonly nobody: number;
}

/** Much goes on: every rule is met often. */
const EVENTFUL: Shares = {
  notice: 0.8,
  explanation: 0.6,
  review: 0.3,
  objection: 0.4,
  answer: 0.7,
  audited: 0.7,
  nobody: 0,
};
/** As in a product at work: nearly all decisions stand without a word. */
export const CALM: Shares = {
  notice: 0.8,
  explanation: 0.1,
  review: 0.03,
  objection: 0.01,
  answer: 0,
  audited: 0,
  nobody: 0.01,
};

export interface HistoryOptions {
  readonly seed: number;
  readonly shares?: Shares;
  readonly assets: number;
  /** Cases per asset. */
  readonly cases: number;
  /** Whom they are about, of all assets; ten unless told. */
  readonly persons?: number;
  /** First day, UTC. */
  readonly start?: string;
  /** When it is read: what is late then depends on it. */
  readonly now?: Date;
}

/** mulberry32: 32 bits of state are enough for a history. */
export const createChance = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (end: number): number => Math.floor(next() * end),
    is: (share: number): boolean => next() < share,
    one: <Value>(values: readonly [Value, ...Value[]]): Value =>
      values[Math.floor(next() * values.length)] ?? values[0],
  };
};

export type Chance = ReturnType<typeof createChance>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Clock changes of 2026 and 2027, from the published tables. */
const SUMMER: Readonly<
  Record<string, { offsets: readonly [winter: number, summer: number]; from: string[]; to: string[] }>
> = {
  brussels: {
    offsets: [1, 2],
    from: ["2026-03-29T01:00:00Z", "2027-03-28T01:00:00Z"],
    to: ["2026-10-25T01:00:00Z", "2027-10-31T01:00:00Z"],
  },
  denver: {
    offsets: [-7, -6],
    from: ["2026-03-08T09:00:00Z", "2027-03-14T09:00:00Z"],
    to: ["2026-11-01T08:00:00Z", "2027-11-07T08:00:00Z"],
  },
  newYork: {
    offsets: [-5, -4],
    from: ["2026-03-08T07:00:00Z", "2027-03-14T07:00:00Z"],
    to: ["2026-11-01T06:00:00Z", "2027-11-07T06:00:00Z"],
  },
  seoul: { offsets: [9, 9], from: [], to: [] },
  utc: { offsets: [0, 0], from: [], to: [] },
};

const offsetHours = (zone: string, instant: number): number => {
  const { offsets, from, to } = SUMMER[zone] ?? { offsets: [0, 0] as const, from: [], to: [] };
  const isSummer = from.some(
    (start, year) => instant >= Date.parse(start) && instant < Date.parse(to[year] ?? ""),
  );
  return isSummer ? offsets[1] : offsets[0];
};

/** The end of the day, so many days or business days after the day of `start`, all in the zone. */
const dueAfter = (start: number, count: number, zone: string, unit: "days" | "business" = "days"): string => {
  const local = start + offsetHours(zone, start) * HOUR_MS;
  let day = Math.floor(local / DAY_MS);
  for (let left = count; left > 0; ) {
    day++;
    // 1970-01-01 was a Thursday.
    const weekday = (day + 4) % 7;
    if (unit === "days" || (weekday !== 0 && weekday !== 6)) left--;
  }
  const end = (day + 1) * DAY_MS - 1000;
  const guess = end - offsetHours(zone, end) * HOUR_MS;
  return text(end - offsetHours(zone, guess) * HOUR_MS);
};

const dateIn = (zone: string, instant: number): string =>
  new Date(instant + offsetHours(zone, instant) * HOUR_MS).toISOString().slice(0, 10);

const text = (instant: number): string => new Date(instant).toISOString().replace(/\.?0*Z$/, "Z");
const isLate = (instant: number, due: string): boolean => Math.floor(instant / 1000) > Date.parse(due) / 1000;

interface World {
  readonly chance: Chance;
  /** For what nothing else follows from, so that it does not change the rest of a history. */
  readonly aside: Chance;
  /** Whom the next case is about. */
  readonly nextSubject: () => string;
  readonly now: number;
  readonly shares: Shares;
  readonly prefix: string;
  readonly events: { readonly at: number; readonly event: HistoryEvent }[];
  readonly decisions: KnownDecision[];
  readonly objections: KnownObjection[];
  readonly notices: KnownNotice[];
  readonly reviews: KnownReview[];
  readonly riskChanges: KnownRiskChange[];
  readonly assessments: KnownAssessment[];
  readonly models: KnownModel[];
  readonly duties: KnownDuty[];
  readonly incidents: KnownIncident[];
  readonly coverage: Map<string, KnownCoverage>;
  readonly audits: KnownAudit[];
  readonly gaps: KnownGap[];
}

interface Asset {
  readonly id: string;
  readonly bases: readonly string[];
  tier: string;
  version: string;
  status: string;
  clauses: readonly string[];
  /** Times of what was done with it last, under the names that the register has for them. */
  readonly done: {
    created_at?: string;
    deployed_at: string;
    retired_at?: string;
    archived_at?: string;
    assessed_at?: string;
  };
  /** Of all its events. */
  readonly times: number[];
  readonly named: Set<string>;
}

export const makeHistory = ({
  seed,
  assets: assetCount,
  cases,
  persons = 10,
  start = "2026-08-10T00:00:00Z",
  shares = EVENTFUL,
  now = new Date(),
}: HistoryOptions): History => {
  const world: World = {
    chance: createChance(seed),
    aside: createChance(seed + 1_000_000),
    nextSubject: subjectsOf(seed, persons, shares),
    now: now.getTime(),
    shares,
    prefix: `${seed}`,
    events: [],
    decisions: [],
    objections: [],
    notices: [],
    reviews: [],
    riskChanges: [],
    assessments: [],
    models: [],
    duties: [],
    incidents: [],
    coverage: new Map(),
    audits: [],
    gaps: [],
  };
  const begin = Date.parse(start);
  const assets = Array.from({ length: assetCount }, (_, index) => {
    const isCreated = index % 4 !== 3;
    const asset: Asset = {
      id: `asset_${seed}_${index}`,
      bases: index % 2 === 0 ? ["pipa_37_2_kr"] : ["colorado_sb26_189", "pipa_37_2_kr"],
      tier: "limited",
      version: "1.0",
      status: "active",
      clauses: ["AI Basic Act art. 31"],
      done: { ...(isCreated && { created_at: text(begin) }), deployed_at: text(begin + HOUR_MS) },
      times: [],
      named: new Set(),
    };
    liveAsset(world, asset, begin, isCreated);
    liveAssessment(world, asset, begin);
    liveLooseNotices(world, asset, begin);
    for (let number = 0; number < cases; number++) liveCase(world, asset, number, begin);
    if (index % 3 === 0) liveIncident(world, asset, begin);
    liveSource(world, asset, begin);
    return asset;
  });
  // By a chance of their own, after all else: what is added here moves nothing of that.
  const chance = createChance(seed + 2_000_000);
  for (const asset of assets) if (chance.is(shares.audited)) liveHiring({ ...world, chance }, asset, begin);
  const ofOutcomes = assets.filter(() => chance.is(shares.audited));
  liveOutcomes({ ...world, chance }, ofOutcomes, begin);
  const ordered = [...world.events].sort((one, other) => one.at - other.at).map(({ event }) => event);
  const activity = new Map<string, number>();
  for (const { timestamp, asset_id, event_type } of ordered) {
    const name = `${timestamp.slice(0, 10)} ${asset_id} ${event_type}`;
    activity.set(name, (activity.get(name) ?? 0) + 1);
  }
  return {
    ...world,
    events: ordered,
    activity,
    assets: assets.map(knownAsset),
  };
};

const knownAsset = ({ id, tier, version, status, clauses, done, times, named }: Asset): KnownAsset => ({
  asset_id: id,
  name: `System ${id}`,
  owner: "Risk team",
  domain: "finance_credit_evaluation",
  oversight_person: "Kim",
  oversight_contact: "oversight@example.com",
  events: times.length,
  first_at: text(Math.min(...times)),
  last_at: text(Math.max(...times)),
  legal_bases: [...named].sort(),
  risk_tier: tier,
  version,
  status,
  clauses,
  ...done,
});

type Members = Readonly<Record<string, unknown>> & { readonly legal_bases?: readonly string[] };

const say = (world: World, asset: Asset, type: string, at: number, members: Members = {}): string => {
  const id = `evt_${world.prefix}_${world.events.length}`;
  asset.times.push(at);
  for (const basis of members.legal_bases ?? []) asset.named.add(basis);
  world.events.push({
    at,
    event: { event_id: id, timestamp: text(at), asset_id: asset.id, event_type: type, ...members },
  });
  return id;
};

const liveAsset = (world: World, asset: Asset, begin: number, isCreated: boolean): void => {
  // One that nobody told of before it was there has a version all the same.
  world.coverage.set(`${asset.id} any lifecycle`, { required: 2, in_time: isCreated ? 2 : 1, late: 0 });
  world.coverage.set(`${asset.id} any labeling`, { required: 0, in_time: 0, late: 0 });
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

/** The first model, which may get worse, and may be retired before a second one comes. */
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

/** An impact assessment whose items are filled in one by one, now as an object and now as an array. */
const liveAssessment = (world: World, asset: Asset, begin: number): void => {
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

/** The register says when this was done last. */
const assessed = (asset: Asset, at: number): void => {
  const { assessed_at: before } = asset.done;
  if (before === undefined || Date.parse(before) < at) asset.done.assessed_at = text(at);
};

/** A date of New York. No year of these histories has a 29 February between. */
const aYearAfter = (at: number): string => dateIn("newYork", at + 365 * DAY_MS);

/** A year that a bias audit covers, in dates of New York. */
const audited = (
  world: World,
  asset: Asset,
  done: { readonly at: number; readonly event_id: string },
): void => {
  const first = dateIn("newYork", done.at);
  const last = `${Number(first.slice(0, 4)) + 1}${first.slice(4)}`;
  world.audits.push({ asset_id: asset.id, event_id: done.event_id, first, last });
};

const NO_NOTICE = {
  correlation_id: null,
  decision_id: null,
  channel: null,
  locale: null,
  policy_version: null,
  shown_at: null,
  dismissed_at: null,
  acknowledged_at: null,
};

/** A notice for everybody, which names nothing, and an acknowledgement of a notice that nobody sent. */
const liveLooseNotices = (world: World, asset: Asset, begin: number): void => {
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

/** The notice before a decision; the person may answer it, may see another after the decision, and may answer that. */
const liveNotice = (
  world: World,
  asset: Asset,
  { at, decidedAt, members }: { at: number; decidedAt: number; members: { correlation_id: string } },
): void => {
  const { aside, shares } = world;
  const show = (shownAt: number) => {
    const locale = aside.one(["ko", "en"]);
    const metadata = { notice_channel: "in_app", locale, policy_version: "4" };
    const notice_id = say(world, asset, "transparency.notice_shown", shownAt, { ...members, metadata });
    const answer = aside.is(shares.answer) ? aside.one(["dismissed", "acknowledged"]) : undefined;
    // Before the decision, which comes a second later at least.
    const answeredAt = shownAt + 500;
    if (answer !== undefined) {
      const type = answer === "dismissed" ? "transparency.notice_dismissed" : "disclosure_acknowledged";
      say(world, asset, type, answeredAt, members);
    }
    world.notices.push({
      ...NO_NOTICE,
      notice_id,
      asset_id: asset.id,
      correlation_id: members.correlation_id,
      channel: "in_app",
      locale,
      policy_version: "4",
      shown_at: text(shownAt),
      ...(answer !== undefined && { [`${answer}_at`]: text(answeredAt) }),
      state: answer ?? "shown",
    });
  };
  show(at);
  if (aside.is(shares.answer / 2)) show(decidedAt + HOUR_MS / 2);
};

const count = (
  world: World,
  asset: Asset,
  law: string,
  duty: string,
  status: "open" | "met" | "met_late",
): void => {
  const name = `${asset.id} ${law} ${duty}`;
  const { required, in_time, late } = world.coverage.get(name) ?? { required: 0, in_time: 0, late: 0 };
  world.coverage.set(name, {
    required: required + 1,
    in_time: in_time + Number(status === "met"),
    late: late + Number(status === "met_late"),
  });
};

const duty = (
  world: World,
  asset: Asset,
  known: {
    deadline: string;
    law: string;
    duty: string;
    startedBy: string;
    due: string;
    stop: { readonly id: string; readonly at: number } | undefined;
  },
): void => {
  const { deadline, law, startedBy, due, stop } = known;
  const status = stop === undefined ? "open" : isLate(stop.at, due) ? "met_late" : "met";
  world.duties.push({
    obligation_id: `${deadline}:${startedBy}`,
    due_at: due,
    status,
    started_by: startedBy,
    stopped_by: stop?.id ?? null,
  });
  count(world, asset, law, known.duty, status);
};

const subjectsOf = (seed: number, persons: number, { nobody }: Shares): (() => string) => {
  const chance = createChance(seed + 2_000_000);
  const hashOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
  return () => hashOf(chance.is(nobody) ? "" : `${seed}:${chance.below(persons)}`);
};

/** One person, one decision, and what follows from it. */
const liveCase = (world: World, asset: Asset, number: number, begin: number): void => {
  const { chance } = world;
  const decisionId = `dec_${asset.id}_${number}`;
  const correlation = `case_${asset.id}_${number}`;
  const subject = world.nextSubject();
  const byCorrelation = { correlation_id: correlation, subject_hash: subject };
  const byDecision = { subject_hash: subject, metadata: { decision_id: decisionId } };
  const at = begin + 2 * DAY_MS + chance.below(180 * 24) * HOUR_MS + chance.below(HOUR_MS);
  const noticeAt = chance.is(world.shares.notice) ? at - 1000 - chance.below(HOUR_MS) : undefined;
  if (noticeAt !== undefined)
    liveNotice(world, asset, { at: noticeAt, decidedAt: at, members: byCorrelation });
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
  const isUnexplained = open.some(({ obligation_id }) => /^(PIPA-EXPL|CO-ADVERSE):/.test(obligation_id));
  world.decisions.push({
    asset_version: "1.0",
    correlation_id: correlation,
    subject_hash: subject,
    risk_tier: "limited",
    obligations_open: open.length,
    missing: [
      ...(noticeAt === undefined ? ["notice"] : []),
      ...(isUnexplained ? ["explanation"] : []),
      ...(objected && !objected.isResolved ? ["objection_resolution"] : []),
      ...(review.triggered && !review.completed ? ["human_review"] : []),
    ],
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

interface Happened {
  readonly id: string;
  readonly at: number;
}

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
      deadline: "CO-ADVERSE",
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
    deadline: "HR-CLOSE",
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
      deadline: "PIPA-EXPL",
      duty: "explanation",
      stop: first(after(parts.explanation), deniedWithReason),
    },
    automated_decision_refusal: {
      deadline: "PIPA-REFUSE",
      duty: "objection",
      stop: deniedWithReason ?? bothDone,
    },
    appeal: { deadline: "PIPA-REVIEW", duty: "objection", stop: resolved },
  };
  const law = "pipa_37_2_kr";
  const answer = answers[type as keyof typeof answers];
  // Who has the answer is told of no longer limit.
  const isTold = acknowledged && isExtended && (!answer.stop || acknowledged.at <= answer.stop.at);
  const extensions = isTold ? 1 : 0;
  const due = dueAfter(receivedAt, 30 + (isTold ? 20 : 0), "seoul");
  duty(world, asset, { ...answer, law, startedBy: received, due });
  duty(world, asset, {
    deadline: "OBJ-ACK",
    law: "policy",
    duty: "objection_acknowledgement",
    startedBy: received,
    due: dueAfter(receivedAt, 3, "utc", "business"),
    stop: first(acknowledged, resolved),
  });
  if (resolved && resolution === "denied")
    duty(world, asset, {
      deadline: "PIPA-DENY",
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

/** Decisions that New York's law asks a notice and a bias audit for, and the audits: some too late, some that nobody repeated. */
const liveHiring = (world: World, asset: Asset, begin: number): void => {
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
  // One notice of an application, and what is decided in it: once before, and too early, and in time.
  const correlation_id = `application_${asset.id}`;
  const noticeAt = begin + (30 + chance.below(60)) * DAY_MS + chance.below(DAY_MS / 1000) * 1000;
  const of = { correlation_id, legal_bases: ["eu_ai_act_art_50"] };
  const notice = { at: noticeAt, id: say(world, asset, "disclosure_shown", noticeAt, of) };
  world.notices.push({
    ...NO_NOTICE,
    notice_id: notice.id,
    asset_id: asset.id,
    correlation_id,
    shown_at: text(noticeAt),
    state: "shown",
  });
  for (const days of [-2, 3, 40, 41]) {
    const at = noticeAt + days * DAY_MS;
    const decisionId = `application_${asset.id}_${days}`;
    hired(world, asset, { at, decisionId, notice: days < 0 ? undefined : notice, correlation_id });
    // The notice names a law that the decisions do not.
    if (days >= 0) count(world, asset, "eu_ai_act_art_50", "notice", "met");
    countAudit(world, asset, own, at);
  }
};

const countAudit = (world: World, asset: Asset, audits: readonly KnownAudit[], at: number): void => {
  const used = dateIn("newYork", at);
  const isAudited = audits.some(({ first, last }) => first <= used && used <= last);
  count(world, asset, "nyc_ll144", "bias_audit", isAudited ? "met" : "open");
};

/** An assessment of which nobody said that it began. */
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
  // What it is may be said when it begins, or when it is done.
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

/** The first notice that was shown before it decides. */
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
  const status = isInTime ? "met" : "open";
  world.duties.push({
    obligation_id: `LL144-NOTICE:${made}`,
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
    obligations_open: isInTime ? 0 : 1,
    missing: notice === undefined ? ["notice"] : [],
  });
};

/** The same second of the day before, in the same zone where its clocks do not change. */
const dayBefore = (time: string): string => text(Date.parse(time) - DAY_MS);

/** Outcomes that one or two assets give out, once or twice, and labels of some of them, before or after, by any asset; and labels of what nobody gave out. */
const liveOutcomes = (world: World, assets: readonly Asset[], begin: number): void => {
  const { chance } = world;
  const [one, ...others] = assets;
  if (one === undefined) return;
  const any = (): Asset => chance.one([one, ...others]);
  for (let number = 0; number < 10 * assets.length; number++) {
    const hash = `sha256:${number.toString(16).padStart(64, "0")}`;
    const named: readonly [Members, ...Members[]] = [
      { outcome_hash: hash },
      { output_hash: hash.toUpperCase().replace("SHA256", "sha256") },
      { metadata: { outcome_hash: hash } },
      { metadata: { output_hash: hash } },
    ];
    const at = begin + 5 * DAY_MS + chance.below(100 * 24) * HOUR_MS;
    const by = chance.is(0.1) ? new Set<Asset>() : new Set([any(), any()]);
    for (const asset of by)
      for (let times = 1 + chance.below(2); times > 0; times--)
        say(world, asset, "ai_inference", at + times * HOUR_MS, chance.one(named));
    const isLabeled = chance.is(0.6);
    const label = chance.one(["transparency.result_labeled", "watermark_applied"]);
    if (isLabeled) say(world, any(), label, at + (chance.below(48) - 24) * HOUR_MS, chance.one(named));
    for (const asset of by) count(world, asset, "any", "labeling", isLabeled ? "met" : "open");
  }
};

const CLASSES = {
  death: ["EU73-DEATH", 10],
  critical_infrastructure: ["EU73-CRIT", 2],
  property: ["EU73-GEN", 15],
} as const;

const liveIncident = (world: World, asset: Asset, begin: number): void => {
  const { chance } = world;
  const at = begin + (10 + chance.below(100)) * DAY_MS + chance.below(DAY_MS / 1000) * 1000;
  const kind = chance.one<keyof typeof CLASSES>(["death", "critical_infrastructure", "property"]);
  const [deadline, days] = CLASSES[kind];
  const incidentId = `inc_${asset.id}`;
  const detected = say(world, asset, "incident.detected", at, {
    legal_bases: ["eu_ai_act_art_73"],
    metadata: { incident_id: incidentId, incident_class: kind, severity: "serious" },
  });
  const reportedAt = at + (1 + chance.below(20 * 24)) * HOUR_MS;
  const isInitial = chance.is(0.5);
  const report: Happened | undefined = chance.is(0.8)
    ? {
        at: reportedAt,
        id: say(world, asset, "incident.reported_to_authority", reportedAt, {
          metadata: {
            incident_id: incidentId,
            report_type: isInitial ? "initial" : "complete",
            authority: "Authority of record",
            severity: "grave",
          },
        }),
      }
    : undefined;
  const isMitigated = report !== undefined && chance.is(0.5);
  if (isMitigated)
    say(world, asset, "incident.mitigated", reportedAt + DAY_MS, {
      metadata: { incident_id: incidentId, root_cause: "A feature was missing", affected_count: 37 },
    });
  const due = dueAfter(at, days, "brussels");
  duty(world, asset, {
    deadline,
    law: "eu_ai_act_art_73",
    duty: "incident_report",
    startedBy: detected,
    due,
    stop: report,
  });
  world.incidents.push({
    incident_id: incidentId,
    state: isMitigated ? "mitigated" : report ? "reported" : "detected",
    report_due_at: due,
    initial_report_at: report ? text(report.at) : null,
    complete_report_at: report && !isInitial ? text(report.at) : null,
    asset_id: asset.id,
    incident_class: kind,
    severity: report ? "grave" : "serious",
    detected_at: text(at),
    authority: report ? "Authority of record" : null,
    mitigated_at: isMitigated ? text(reportedAt + DAY_MS) : null,
    root_cause: isMitigated ? "A feature was missing" : null,
    affected_count: isMitigated ? "37" : null,
  });
};

/** A sender that numbers its events and loses some; of the last ones only its heartbeats tell. */
const liveSource = (world: World, asset: Asset, begin: number): void => {
  const { chance } = world;
  const sourceId = `src_${asset.id}`;
  let gapStart: number | undefined;
  const last = 12;
  for (let number = 1; number <= last; number++) {
    const at = begin + DAY_MS + number * 60_000;
    const isLost = number < last && chance.is(0.25);
    if (isLost) gapStart ??= number;
    else {
      if (gapStart !== undefined)
        world.gaps.push({ source_id: sourceId, first: gapStart, last: number - 1, since: text(at) });
      gapStart = undefined;
      // Only heartbeats announce anything.
      const metadata = { source_id: sourceId, source_sequence: number, last_source_sequence: 99 };
      say(world, asset, "ai_inference", at, { metadata });
    }
    // On the day of the numbers, and of none that is still missing at the end.
    if (number === 6) beat(world, asset, at + 1000, number);
  }
  const lostAtTheEnd = chance.below(4);
  const announcedAt = begin + 3 * DAY_MS;
  for (const day of [0, 1, 2]) beat(world, asset, announcedAt + day * DAY_MS, last + lostAtTheEnd);
  if (lostAtTheEnd > 0)
    world.gaps.push({
      source_id: sourceId,
      first: last + 1,
      last: last + lostAtTheEnd,
      since: text(announcedAt),
    });
};

const beat = (world: World, asset: Asset, at: number, last: number): void => {
  say(world, asset, HEARTBEAT, at, {
    metadata: { source_id: `src_${asset.id}`, queue_depth: 0, last_source_sequence: last },
  });
};

/** The same events as they might arrive: mostly in order, some late, some very late. */
export const asTheyArrive = <Item>(events: readonly Item[], seed: number): readonly Item[] => {
  const chance = createChance(seed);
  return events
    .map((event, index) => {
      const delay = chance.is(0.1) ? chance.below(events.length) : chance.below(20);
      return { event, place: index + delay };
    })
    .sort((one, other) => one.place - other.place)
    .map(({ event }) => event);
};
