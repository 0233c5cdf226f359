/** The state while a history is made: its assets, the events so far, and the expected answers. */
import type { Chance } from "./chance.ts";
import type {
  HistoryEvent,
  KnownAssessment,
  KnownAudit,
  KnownCoverage,
  KnownDecision,
  KnownDuty,
  KnownGap,
  KnownIncident,
  KnownModel,
  KnownNotice,
  KnownObjection,
  KnownReview,
  KnownRiskChange,
} from "./known-history.ts";
import { isLate, text } from "./local-time.ts";

/** The shares of events that happen. */
export interface Shares {
  readonly notice: number;
  readonly explanation: number;
  readonly review: number;
  readonly objection: number;
  /** Of the notices: those that are dismissed, acknowledged or shown again. */
  readonly answer: number;
  /** Of the assets: those that hire, which requires audits, and that name their outcomes by a hash. */
  readonly audited: number;
  /** Of the cases: those whose subject is the hash of an empty text, as from SDKs that were given none. */
  readonly nobody: number;
}

export interface World {
  readonly chance: Chance;
  /** For details on which nothing else depends, so that they do not change the rest of a history. */
  readonly aside: Chance;
  /** The subject of the next case. */
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

export interface Asset {
  readonly id: string;
  readonly bases: readonly string[];
  tier: string;
  version: string;
  status: string;
  clauses: readonly string[];
  /** Times of the last actions, under the names that the register has for them. */
  readonly done: {
    created_at?: string;
    deployed_at: string;
    retired_at?: string;
    archived_at?: string;
    assessed_at?: string;
  };
  /** Times of all its events. */
  readonly times: number[];
  readonly named: Set<string>;
}

export type Members = Readonly<Record<string, unknown>> & { readonly legal_bases?: readonly string[] };

export interface Happened {
  readonly id: string;
  readonly at: number;
}

export const say = (world: World, asset: Asset, type: string, at: number, members: Members = {}): string => {
  const id = `evt_${world.prefix}_${world.events.length}`;
  asset.times.push(at);
  for (const basis of members.legal_bases ?? []) asset.named.add(basis);
  world.events.push({
    at,
    event: { event_id: id, timestamp: text(at), asset_id: asset.id, event_type: type, ...members },
  });
  return id;
};

export const count = (
  world: World,
  asset: Asset,
  law: string,
  duty: string,
  status: KnownDuty["status"],
  /** When it falls due, if it can be met until then. */
  dueAt?: string,
): void => {
  const name = `${asset.id} ${law} ${duty}`;
  const known = world.coverage.get(name) ?? { required: 0, in_time: 0, late: 0, running: [] };
  world.coverage.set(name, {
    required: known.required + 1,
    in_time: known.in_time + Number(status === "met"),
    late: known.late + Number(status === "met_late"),
    running: status === "open" && dueAt !== undefined ? [...known.running, dueAt] : known.running,
  });
};

export const duty = (
  world: World,
  asset: Asset,
  known: {
    rule: string;
    law: string;
    duty: string;
    startedBy: string;
    due: string;
    stop: { readonly id: string; readonly at: number } | undefined;
  },
): void => {
  const { rule, law, startedBy, due, stop } = known;
  const status = stop === undefined ? "open" : isLate(stop.at, due) ? "met_late" : "met";
  world.duties.push({
    obligation_id: `${rule}:${startedBy}`,
    due_at: due,
    status,
    started_by: startedBy,
    stopped_by: stop?.id ?? null,
  });
  count(world, asset, law, known.duty, status, due);
};

/** A notice of which nothing is known. */
export const NO_NOTICE = {
  correlation_id: null,
  decision_id: null,
  channel: null,
  locale: null,
  policy_version: null,
  shown_at: null,
  dismissed_at: null,
  acknowledged_at: null,
};
