/** Every metric, with its unit, in one table. Read at `GET /metrics` in the Prometheus text format. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { processMetrics } from "./process-metrics.ts";
import { createRequestCount } from "./request-metrics.ts";

export type Metrics = ReturnType<typeof createMetrics>;

/** One registry per service, so that several services may live in one process. */
export const createMetrics = () => {
  const registry = Registry.merge([processMetrics()]);
  const registers = [registry];
  return {
    registry,
    countRequest: createRequestCount(registers),
    countOutcomes: createOutcomeCount(registers),
    ...createProofMetrics(registers),
    ...createReconciliationMetrics(registers),
    watchLog: createLogWatch(registers),
    watchReadiness: createReadinessWatch(registers),
    commitRecords: new Histogram({
      name: "prooftrail_commit_records",
      help: "Records in one commit, acknowledged by one fsync.",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000],
      registers,
    }),
    unknownFields: new Counter({
      name: "prooftrail_unknown_fields_total",
      help: "Members of events that have no meaning here; kept, and answered with a warning.",
      registers,
    }),
    projectionRecords: new Counter({
      name: "prooftrail_projection_records_total",
      help: "Records a projection has taken.",
      labelNames: ["projection"],
      registers,
    }),
    projectionPosition: new Gauge({
      name: "prooftrail_projection_position",
      help: "Sequence of the last record that a projection has taken. How far it is behind: prooftrail_log_last_sequence less this.",
      labelNames: ["projection"],
      registers,
    }),
    deadLetters: new Counter({
      name: "prooftrail_dead_letters_total",
      help: "Records that a projection could not take; see the dead-letter view.",
      labelNames: ["projection"],
      registers,
    }),
    expiredEvents: new Counter({
      name: "prooftrail_expired_events_total",
      help: "Events that the views no longer show, by the retention of their tenant. The log still has them.",
      registers,
    }),
    dutiesAnnounced: new Counter({
      name: "prooftrail_duties_announced_total",
      help: "Transitions of obligations published, by transition: open, due, met, late, late_record, breached, waived.",
      labelNames: ["transition"],
      registers,
    }),
    dutiesPosition: new Gauge({
      name: "prooftrail_duties_position",
      help: "Sequence up to which what became of obligations was told; a projection's position is how far it could be.",
      registers,
    }),
    administrativeActions: new Counter({
      name: "prooftrail_administrative_actions_total",
      help: "Administrative actions by event type and outcome: done; refused, because the log did not take the event; failed, after it had.",
      labelNames: ["event_type", "outcome"],
      registers,
    }),
    projectionAlarms: new Counter({
      name: "prooftrail_projection_alarms_total",
      help: "Times a projection stopped because the log had a hole, ended before what the view has seen, or held another record there.",
      labelNames: ["projection", "alarm"],
      registers,
    }),
  };
};

/** Creates the series with 0. Prometheus sees no increase in a series that begins with its first alarm. */
export const countFromZero = <Label extends string>(
  counter: Counter<Label>,
  series: readonly Readonly<Record<Label, string>>[],
): void => {
  for (const labels of series) counter.inc(labels, 0);
};

/** Called whenever metrics are read. If it gives undefined, the last known value stays. */
type Asked = () => Promise<number | undefined>;

const createLogWatch =
  (registers: Registry[]) =>
  (log: { readonly lastSequence: Asked; readonly copies: Asked }): void => {
    const watch = (name: string, help: string, ask: Asked) =>
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          const value = await ask();
          if (value !== undefined) this.set(value);
        },
      });
    watch(
      "prooftrail_log_last_sequence",
      "Sequence of the newest record in the log, when it was last seen.",
      log.lastSequence,
    );
    watch(
      "prooftrail_log_copies",
      "Servers that hold the whole log, when it was last seen. Less than STREAM_REPLICAS for minutes is an alarm: one is away, or stays behind.",
      log.copies,
    );
  };

/** 0 from the first moment: a process that waits for its broker or the database of its views is not ready. */
const createReadinessWatch = (registers: Registry[]): ((isReady: () => Promise<boolean>) => void) => {
  let ask = async (): Promise<boolean> => false;
  new Gauge({
    name: "prooftrail_ready",
    help: "1 where GET /health/ready says that this instance can serve, 0 where it names a reason. 0 for minutes is an alarm: ask there.",
    registers,
    async collect() {
      this.set((await ask()) ? 1 : 0);
    },
  });
  return (isReady) => {
    ask = isReady;
  };
};

const createProofMetrics = (registers: Registry[]) => ({
  sealOutcomes: new Counter({
    name: "prooftrail_seals_total",
    help: "Looks at trees that grew, by what became of them: sealed, current, view_behind, overtaken, refused. The last is an alarm.",
    labelNames: ["outcome"],
    registers,
  }),
  monitorAlarms: new Counter({
    name: "prooftrail_monitor_alarms_total",
    help: "Differences between the log, its tree and what was signed, by kind. Each is an alarm.",
    labelNames: ["kind"],
    registers,
  }),
  monitorPosition: new Gauge({
    name: "prooftrail_monitor_position",
    help: "Sequence up to which the trees were computed again from the log.",
    registers,
  }),
});

const createReconciliationMetrics = (registers: Registry[]) => ({
  reconciledHours: new Counter({
    name: "prooftrail_reconciled_hours_total",
    help: "Hours of tenants held against what was acknowledged, by state: balanced, more_stored, refused, missing_in_log, not_projected. The last three are alarms.",
    labelNames: ["tenant", "state"],
    registers,
  }),
  reconciliationAlarms: new Counter({
    name: "prooftrail_reconciliation_alarms_total",
    help: "Hours of tenants that do not balance, by state: refused, missing_in_log, not_projected. Each is an alarm; prooftrail_reconciled_hours_total names the tenant.",
    labelNames: ["state"],
    registers,
  }),
  reconciledEvents: new Gauge({
    name: "prooftrail_reconciled_events",
    help: "Of the last hour that was reconciled, of each tenant that was counted in it: events accepted, records stored, events projected.",
    labelNames: ["tenant", "stage"],
    registers,
  }),
});

/** Kept in plain numbers until somebody reads them: one call per record would cost as much as the record. */
const createOutcomeCount = (registers: Registry[]) => {
  const counts = { appended: 0, duplicate: 0, refused: 0, unknown: 0 };
  new Counter({
    name: "prooftrail_append_outcomes_total",
    help: "Records by what became of them: appended, duplicate, refused, unknown.",
    labelNames: ["outcome"],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(counts)) this.inc({ outcome }, count);
    },
  });
  return (records: readonly { readonly kind: keyof typeof counts }[]): void => {
    for (const { kind } of records) counts[kind]++;
  };
};
