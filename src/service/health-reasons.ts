/**
 * Everything that can be wrong with a running installation, as one list: readiness, `prooftrail doctor`, the metric
 * `prooftrail_health_reason` and deploy/prometheus/rules.yaml know each by its id. A test holds the rules to this list.
 */

interface Kind {
  /** What is wrong. What is said of one case has its numbers and names. */
  readonly summary: string;
  /** What to do. */
  readonly advice: string;
  /** `critical`: this instance does not take or show what it should. `warning`: it does, and will not for long, or something is not checked. */
  readonly severity: "critical" | "warning";
}

export const HEALTH_REASONS = {
  starting: {
    summary: "The process is starting: it waits for its broker or the database of its views, or opens them.",
    advice: "Its log says what it waits for.",
    severity: "critical",
  },
  broker_disconnected: {
    summary: "The broker is not connected.",
    advice: "See that the broker runs and can be reached; Prooftrail reconnects on its own.",
    severity: "critical",
  },
  no_quorum: {
    summary: "Too few brokers answer for a quorum: nothing is stored.",
    advice: "Start the brokers that are away, and leave running what runs: it holds a copy of the log.",
    severity: "critical",
  },
  stream_leaderless: {
    summary: "A stream has no leader: nothing is stored in it or read from it.",
    advice: "An election takes seconds. If it stays so, see the logs of the brokers, and their disks.",
    severity: "critical",
  },
  stream_short: {
    summary: "A stream is on fewer brokers than it should be.",
    advice:
      "Start the broker that is away. If it runs and stays behind, restart it, and no other one meanwhile.",
    severity: "warning",
  },
  streams_wrong: {
    summary: "The streams are not as this version needs them.",
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
    advice: "Raise the limit of the account, or make room: a log that reaches it takes no events.",
    severity: "warning",
  },
  disk_low: {
    summary: "The disk of DATA_DIR is nearly full.",
    advice: "Make room: without it no view is written, and with a broker of our own no event is taken.",
    severity: "warning",
  },
  log_stalled: {
    summary: "The log stores nothing.",
    advice: "Free space if the disk of the log is full; `/health/ready` says more.",
    severity: "critical",
  },
  log_misconfigured: {
    summary: "The log could lose what it acknowledges, so it takes no events.",
    advice: "Change the setting back that `/health/ready` names.",
    severity: "critical",
  },
  log_silent: {
    summary: "The log does not say in time where it ends.",
    advice: "See that the brokers run and are not overloaded.",
    severity: "critical",
  },
  log_end_unknown: {
    summary: "Whether the log still has its end was not checked since the broker was connected.",
    advice:
      "It takes a moment. If it stays so, see that the broker answers, and that HEADS_COPY can be read.",
    severity: "critical",
  },
  heads_not_reached: {
    summary: "The log does not reach the heads in HEADS_COPY: it lost its end or is another one.",
    advice: "Bring back the log that has it. If it is lost for good: prooftrail restore accept --reason …",
    severity: "critical",
  },
  heads_copy_unavailable: {
    summary:
      "HEADS_COPY cannot be read or written, so no tree head is signed; or a file in it is damaged, and nothing is taken.",
    advice:
      "See that it is mounted and has room, and that this user may read and write it; `/health/ready` names a damaged file.",
    severity: "critical",
  },
  views_ahead: {
    summary: "The views have seen more than the log holds: it lost its end or is another one.",
    advice: "Bring the log back, or rebuild the views to continue with this log.",
    severity: "critical",
  },
  views_behind: {
    summary: "Views are far behind the log, or are being made.",
    advice:
      "See that a process with the role projector runs; `prooftrail views status` shows whether it moves.",
    severity: "critical",
  },
  views_missing: {
    summary: "Views are not there, or belong to another version.",
    advice: "Restart the service: it makes them from the log. Run one version on one database.",
    severity: "critical",
  },
  views_unavailable: {
    summary: "The database of the views does not answer.",
    advice: "See that the database runs and can be reached. Events are taken meanwhile.",
    severity: "critical",
  },
  keys_incomplete: {
    summary: "The keys are not complete, or were last known to be some time ago.",
    advice: "See that the broker answers; if its store was replaced, bring it back.",
    severity: "critical",
  },
  sealer_behind: {
    summary: "Records wait for a signed tree head for longer than they should.",
    advice: "The log of the process with the role sealer says why no tree head is signed.",
    severity: "warning",
  },
  monitor_late: {
    summary: "The monitor has not read the whole log in 48 hours.",
    advice: "See that the process with the role sealer has time for it, and reads the log.",
    severity: "warning",
  },
  monitor_cannot_read: {
    summary: "The monitor cannot read the log, so nobody would notice a change of it.",
    advice: "The log of the process with the role sealer says why.",
    severity: "warning",
  },
  counts_not_kept: {
    summary: "The counts of acknowledged events are not stored: hours cannot be reconciled.",
    advice: "See that the stream COUNTS has a leader and room.",
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

/** With the advice of its row, unless told otherwise. */
export const warning = (
  id: HealthReasonId,
  detail: string,
  advice: string = HEALTH_REASONS[id].advice,
): Trouble => ({ id, isBlocking: false, detail, advice });

export const only = (isSo: boolean, trouble: Trouble): readonly Trouble[] => (isSo ? [trouble] : []);

/** Without a space behind a detail that says everything. */
export const sentences = ({ detail, advice }: Pick<Trouble, "detail" | "advice">): string =>
  advice === "" ? detail : `${detail} ${advice}`;
