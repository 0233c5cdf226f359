/**
 * Everything that can be wrong with a running installation, as one list: readiness, `prooftrail doctor`, the metric
 * `prooftrail_health_reason` and deploy/prometheus/rules.yaml know each by its id. A test holds the rules to this list.
 */

interface Kind {
  /** What is wrong in general. The detail of a case has its numbers and names. */
  readonly summary: string;
  /** What to do. */
  readonly advice: string;
  /** `critical`: this instance does not take or show what it should. `warning`: it does, and will not for long, or something is not checked. */
  readonly severity: "critical" | "warning";
}

export const HEALTH_REASONS = {
  starting: {
    summary: "Starting: waiting for the broker or the database of the views, or opening them.",
    advice: "Its log says what it waits for.",
    severity: "critical",
  },
  broker_disconnected: {
    summary: "The broker is not connected.",
    advice: "Check that the broker runs and is reachable; Prooftrail reconnects on its own.",
    severity: "critical",
  },
  no_quorum: {
    summary: "Too few brokers answer for a quorum: nothing is stored.",
    advice: "Start the missing brokers, and do not stop the others: they hold copies of the log.",
    severity: "critical",
  },
  stream_leaderless: {
    summary: "A stream has no leader: nothing is stored in it or read from it.",
    advice: "An election takes seconds. If this lasts, check the brokers' logs and disks.",
    severity: "critical",
  },
  stream_short: {
    summary: "A stream is on fewer brokers than it should be.",
    advice: "Start the missing broker. If it runs but stays behind, restart it, and no other one meanwhile.",
    severity: "warning",
  },
  streams_wrong: {
    summary: "The streams differ from what this version needs.",
    advice: "`prooftrail doctor` names the differences, and what to do about each.",
    severity: "critical",
  },
  broker_memory_high: {
    summary: "The brokers have used nearly all of their memory for streams.",
    advice: "Raise max_memory_store of the brokers, and max_memory of the account.",
    severity: "warning",
  },
  broker_disk_high: {
    summary: "The brokers have used nearly all of their disk space for streams.",
    advice: "Raise the account's limit, or free space: a log that reaches it accepts no events.",
    severity: "warning",
  },
  disk_low: {
    summary: "The disk of DATA_DIR is nearly full.",
    advice: "Free space: on a full disk no view is written, and our own broker accepts no event.",
    severity: "warning",
  },
  log_stalled: {
    summary: "The log stores nothing.",
    advice: "If the log's disk is full, free space; `/health/ready` says more.",
    severity: "critical",
  },
  log_misconfigured: {
    summary: "The log could lose what it acknowledges, so it accepts no events.",
    advice: "Change back the setting that `/health/ready` names.",
    severity: "critical",
  },
  log_silent: {
    summary: "The log did not report its end in time.",
    advice: "Check that the brokers run and are not overloaded.",
    severity: "critical",
  },
  log_end_unknown: {
    summary: "The end of the log has not been checked since the broker connected.",
    advice: "It takes a moment. If this lasts, check that the broker answers and HEADS_COPY can be read.",
    severity: "critical",
  },
  heads_not_reached: {
    summary: "The log does not reach the heads in HEADS_COPY: it lost its end or is another log.",
    advice: "Restore the log that has it. If it is lost for good: prooftrail restore accept --reason …",
    severity: "critical",
  },
  heads_copy_unavailable: {
    summary:
      "HEADS_COPY cannot be read or written, so no tree head is signed; or a file in it is damaged, and nothing is accepted.",
    advice:
      "Check that it is mounted, has free space, and that this user can read and write it; `/health/ready` names a damaged file.",
    severity: "critical",
  },
  views_ahead: {
    summary: "The views have seen more than the log holds: it lost its end or is another log.",
    advice: "Restore the log, or rebuild the views to continue with this one.",
    severity: "critical",
  },
  views_behind: {
    summary: "Views are far behind the log, or are being built.",
    advice:
      "Check that a process with the role projector runs; `prooftrail views status` shows its progress.",
    severity: "critical",
  },
  views_missing: {
    summary: "Views are missing, or belong to another version.",
    advice: "Restart the service: it builds them from the log. Run one version per database.",
    severity: "critical",
  },
  views_unavailable: {
    summary: "The database of the views does not answer.",
    advice: "Check that the database runs and is reachable. Events are still accepted.",
    severity: "critical",
  },
  keys_incomplete: {
    summary: "The keys are incomplete, or have not been confirmed for a while.",
    advice: "Check that the broker answers; if its store was replaced, restore it.",
    severity: "critical",
  },
  sealer_behind: {
    summary: "Records wait too long for a signed tree head.",
    advice: "The log of the process with the role sealer says why no tree head is signed.",
    severity: "warning",
  },
  monitor_late: {
    summary: "The monitor has not read the whole log in 48 hours.",
    advice: "Check that the process with the role sealer has time to read the log.",
    severity: "warning",
  },
  monitor_cannot_read: {
    summary: "The monitor cannot read the log, so changes to it would go unnoticed.",
    advice: "The log of the process with the role sealer says why.",
    severity: "warning",
  },
  counts_not_kept: {
    summary: "The counts of acknowledged events are not stored: hours cannot be reconciled.",
    advice: "Check that the stream COUNTS has a leader and space.",
    severity: "warning",
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type HealthReasonId = keyof typeof HEALTH_REASONS;

export const HEALTH_REASON_IDS = Object.keys(HEALTH_REASONS) as readonly HealthReasonId[];

/** What one look found: what is wrong now, and what to do about it. */
export interface Trouble {
  readonly id: HealthReasonId;
  /** Whether the instance is not ready because of it. */
  readonly isBlocking: boolean;
  /** What is wrong now, in whole sentences. */
  readonly detail: string;
  /** Empty if the detail says it. */
  readonly advice: string;
}

export const blocking = (id: HealthReasonId, detail: string, advice = ""): Trouble => {
  return { id, isBlocking: true, detail, advice };
};

/** With the advice of its row by default. */
export const warning = (
  id: HealthReasonId,
  detail: string,
  advice: string = HEALTH_REASONS[id].advice,
): Trouble => ({ id, isBlocking: false, detail, advice });

export const only = (isSo: boolean, trouble: Trouble): readonly Trouble[] => (isSo ? [trouble] : []);

/** Without a space after a detail that says everything. */
export const sentences = ({ detail, advice }: Pick<Trouble, "detail" | "advice">): string =>
  advice === "" ? detail : `${detail} ${advice}`;
