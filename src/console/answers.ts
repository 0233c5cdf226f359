/** The members of answers that screens use. The whole form of each is in /docs/json. */

type Time = string;

export interface StoredEvent {
  readonly sequence: number;
  readonly tenant: string;
  readonly received_at: Time;
  readonly event: AuditEvent;
  /** Only where one event is read. */
  readonly warnings?: readonly { readonly path: string; readonly code: string; readonly message: string }[];
}

export interface AuditEvent {
  readonly event_id: string;
  readonly timestamp: Time;
  readonly asset_id: string;
  readonly event_type: string;
  readonly asset_version?: string;
  readonly correlation_id?: string;
  readonly subject_hash?: string;
  readonly legal_bases?: readonly string[];
  readonly risk_tier?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface Decision {
  readonly decision_id: string;
  readonly asset_id: string;
  readonly asset_version: string | null;
  readonly correlation_id: string | null;
  readonly subject_hash: string | null;
  readonly risk_tier: string | null;
  readonly made_at: Time | null;
  readonly made_recorded_at: Time | null;
  readonly outcome: string | null;
  readonly notice_at: Time | null;
  readonly explanation_at: Time | null;
  readonly review_triggered_at: Time | null;
  readonly review_completed_at: Time | null;
  readonly reversed_at: Time | null;
  readonly obligations_open: number;
  readonly missing: readonly string[];
  readonly pending: readonly string[];
}

export interface DecisionEntry extends Decision {
  readonly objections: number;
}

export interface TimelineEntry {
  readonly at: Time;
  readonly sequence: number;
  readonly received_at: Time;
  readonly linked_by: string;
  /** Null if it has expired. */
  readonly event: AuditEvent | null;
}

export interface Unlinked {
  readonly event_id: string;
  readonly event_type: string;
  readonly at: Time;
  /** What it may belong to. */
  readonly candidates: readonly { readonly kind: string; readonly id: string }[];
}

export interface Dossier extends Decision {
  readonly obligations: readonly Obligation[];
  readonly unlinked: readonly Unlinked[];
  readonly timeline: readonly TimelineEntry[];
}

export interface Obligation {
  readonly obligation_id: string;
  readonly rule: string;
  readonly law: string;
  readonly clause: string;
  readonly duty: string;
  readonly state: string;
  readonly ruleset_version: string;
  readonly asset_id: string;
  readonly subject_hash: string | null;
  readonly decision_id: string | null;
  readonly objection_id: string | null;
  readonly incident_id: string | null;
  readonly started_at: Time;
  readonly started_recorded_at: Time;
  readonly started_by: string;
  readonly due_at: Time;
  readonly extensions: number;
  readonly stopped_at: Time | null;
  readonly stopped_recorded_at: Time | null;
  readonly stopped_by: string | null;
  readonly recorded_late: boolean;
  readonly waived_at: Time | null;
  readonly waived_by: string | null;
  readonly waived_reason: string | null;
}

export interface Source {
  readonly source_id: string;
  readonly last_number: number;
  readonly received: number;
  readonly missing: number;
  readonly last_recorded_at: Time;
  readonly heartbeat_recorded_at: Time | null;
  /** What the last heartbeats said. */
  readonly heartbeat: Readonly<
    Partial<
      Record<
        "outbox_depth" | "queue_depth" | "dropped" | "circuit_state" | "sdk_version" | "sdk_language",
        number | string
      >
    >
  > | null;
}

export interface Gap {
  readonly source_id: string;
  readonly first_number: number;
  readonly last_number: number;
  readonly since: Time;
}

export interface Reconciliation {
  readonly is_balanced: boolean | null;
  readonly log_last_sequence: number;
}

export interface Activity {
  readonly start: Time;
  readonly event_group: string;
  readonly events: number;
}

export interface Coverage {
  readonly asset_id: string;
  readonly law: string;
  readonly duty: string;
  readonly state: string;
  readonly due: number;
  readonly in_time: number;
  readonly late: number;
  readonly unmet: number;
  readonly pending: number;
  readonly waived: number;
  readonly clause: string;
  readonly last_evidence_at: Time | null;
  readonly example_event_ids: readonly string[];
}

export interface CannotShow {
  readonly law: string;
  readonly duty: string;
  readonly clause: string;
  readonly why: string;
}

export interface Hold {
  readonly id: string;
  readonly asset_id?: string;
  readonly correlation_id?: string;
  readonly reason: string;
  readonly created_at: string;
  readonly created_by: string;
  readonly released_at?: string;
  readonly released_reason?: string;
}

export interface Proof {
  readonly sequence: number;
  readonly leaf_index: number;
  readonly leaf: string;
  readonly leaf_hash: string;
  readonly inclusion_proof: readonly string[];
  readonly checkpoint: string;
}

/** A row of a register. What it holds depends on the register. */
export type Row = Readonly<Record<string, unknown>>;
