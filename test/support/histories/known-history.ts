/** A history, and the expected content of registers, clocks and figures. */
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
  readonly pending: readonly string[];
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
  readonly status: "open" | "met" | "met_late" | "breached";
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
  readonly affected_count: number | null;
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
  /** All that fell due or will. */
  readonly required: number;
  readonly in_time: number;
  readonly late: number;
  /** When those fall due that nothing has met. */
  readonly running: readonly string[];
}

/** What does not depend on the time stays as it is; what runs is due once its last second is over. */
export const coverageAtTime = (
  coverage: ReadonlyMap<string, KnownCoverage>,
  now: string,
): ReadonlyMap<
  string,
  { readonly due: number; readonly in_time: number; readonly late: number; readonly pending: number }
> =>
  new Map(
    [...coverage].map(([name, { required, in_time, late, running }]) => {
      const pending = running.filter((due) => due >= now).length;
      return [name, { due: required - pending, in_time, late, pending }];
    }),
  );

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
  /** Ordered by their times. */
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
  /** Numbers of a source that never arrived. */
  readonly gaps: readonly KnownGap[];
  /** `day asset type` → events. */
  readonly activity: ReadonlyMap<string, number>;
}
