/**
 * Realistic histories of AI systems, with the expected answers. Deterministic: a seed gives the same history everywhere. The answers
 * come from the generator's own decisions and its own arithmetic, never from the code under test.
 */
import { liveAssessment, liveAsset } from "./histories/asset-life.ts";
import { liveCase, liveLooseNotices, subjectsOf } from "./histories/case-life.ts";
import { createChance } from "./histories/chance.ts";
import { liveHiring } from "./histories/hiring-life.ts";
import { liveIncident } from "./histories/incident-life.ts";
import type { History, KnownAsset } from "./histories/known-history.ts";
import { HOUR_MS, text } from "./histories/local-time.ts";
import { liveOutcomes } from "./histories/outcome-life.ts";
import { liveSource } from "./histories/source-life.ts";
import type { Asset, Shares, World } from "./histories/world.ts";

/** A lot happens: every rule applies often. */
const EVENTFUL: Shares = {
  notice: 0.8,
  explanation: 0.6,
  review: 0.3,
  objection: 0.4,
  answer: 0.7,
  audited: 0.7,
  nobody: 0,
};

/** As in a real product: nearly all decisions stand without further events. */
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
  /** The number of subjects of all assets; ten by default. */
  readonly persons?: number;
  /** First day, UTC. */
  readonly start?: string;
  /** The time of reading: it determines what is late. */
  readonly now?: Date;
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
  // Drawn from a separate chance, after everything else: an addition here changes nothing above.
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
