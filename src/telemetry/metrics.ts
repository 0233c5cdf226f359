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
    watch: createWatches(registers),
    watchHealth: createHealthWatch(registers),
    buildInfo: new Gauge({
      name: "prooftrail_build_info",
      help: "Always 1: the version of Prooftrail and what runs it.",
      labelNames: ["version", "runtime"],
      registers,
    }),
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

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Called whenever metrics are read. If it gives undefined, the last known values stay. */
type Asked = () => Promise<readonly Sample[] | undefined>;

/** Values that are found out when somebody reads them. */
const WATCHED = {
  logLastSequence: {
    name: "prooftrail_log_last_sequence",
    help: "Sequence of the newest record in the log, when it was last seen.",
    labelNames: [],
  },
  logCopies: {
    name: "prooftrail_log_copies",
    help: "Servers that hold the whole log, when it was last seen. Less than STREAM_REPLICAS for minutes is an alarm: one is away, or stays behind.",
    labelNames: [],
  },
  projectionLag: {
    name: "prooftrail_projection_lag_seconds",
    help: "Age of the oldest record that a projection has not taken; 0 if it has taken all.",
    labelNames: ["projection"],
  },
  unsealedAge: {
    name: "prooftrail_unsealed_age_seconds",
    help: "Age of the oldest record that no signed tree head covers; 0 if all are covered. Only with the role sealer.",
    labelNames: [],
  },
  obligations: {
    name: "prooftrail_obligations",
    help: "Obligations of all tenants by state, as last counted. Only with the role projector.",
    labelNames: ["state"],
  },
  diskFree: {
    name: "prooftrail_disk_free_bytes",
    help: "Free bytes on the disk of a folder: data for DATA_DIR, heads_copy for HEADS_COPY.",
    labelNames: ["folder"],
  },
  brokerStored: {
    name: "prooftrail_broker_stored_bytes",
    help: "Bytes that streams take in the account of the broker, by storage: memory, disk.",
    labelNames: ["storage"],
  },
  brokerReserved: {
    name: "prooftrail_broker_reserved_bytes",
    help: "Bytes that streams reserve there.",
    labelNames: ["storage"],
  },
  brokerLimit: {
    name: "prooftrail_broker_limit_bytes",
    help: "Bytes that the account may store there; no sample where it has no limit.",
    labelNames: ["storage"],
  },
} as const;

type Watches = { readonly [Name in keyof typeof WATCHED]: (ask: Asked) => void };

const createWatches = (registers: Registry[]): Watches => {
  const watch = (name: keyof typeof WATCHED) => {
    let ask: Asked = async () => undefined;
    const gauge = new Gauge({
      ...WATCHED[name],
      labelNames: [...WATCHED[name].labelNames],
      registers,
      async collect() {
        const samples = await ask();
        if (samples === undefined) return;
        this.reset();
        // A gauge without labels would have 0 after a reset.
        if (samples.length === 0) this.remove({});
        for (const { labels = {}, value } of samples) this.set(labels, value);
      },
    });
    // No value, and not 0, before the first answer.
    gauge.remove({});
    return (asked: Asked): void => {
      ask = asked;
    };
  };
  return {
    logLastSequence: watch("logLastSequence"),
    logCopies: watch("logCopies"),
    projectionLag: watch("projectionLag"),
    unsealedAge: watch("unsealedAge"),
    obligations: watch("obligations"),
    diskFree: watch("diskFree"),
    brokerStored: watch("brokerStored"),
    brokerReserved: watch("brokerReserved"),
    brokerLimit: watch("brokerLimit"),
  };
};

interface HealthSource {
  /** Every id that there is. */
  readonly ids: readonly string[];
  /** Called when metrics are read. Undefined if they are not known in time: then the instance counts as not ready. */
  readonly reasons: () => Promise<
    readonly { readonly id: string; readonly isBlocking: boolean }[] | undefined
  >;
}

/** Not ready from the first moment: a process that waits for its broker or the database of its views serves nobody. */
const createHealthWatch = (registers: Registry[]): ((source: HealthSource) => void) => {
  let source: HealthSource = {
    ids: [],
    reasons: async () => [{ id: "starting", isBlocking: true }],
  };
  let asked: ReturnType<HealthSource["reasons"]> | undefined;
  /** Both gauges ask in one turn. */
  const ask = (): ReturnType<HealthSource["reasons"]> => {
    asked ??= source.reasons().finally(() => {
      asked = undefined;
    });
    return asked;
  };
  new Gauge({
    name: "prooftrail_ready",
    help: "1 where GET /health/ready says that this instance can serve, 0 where it names a reason. 0 for minutes is an alarm: ask there.",
    registers,
    async collect() {
      const reasons = await ask();
      this.set(reasons?.every(({ isBlocking }) => !isBlocking) ? 1 : 0);
    },
  });
  new Gauge({
    name: "prooftrail_health_reason",
    help: "1 where something is wrong with this instance or its installation, by reason; GET /health/ready says more.",
    labelNames: ["reason"],
    registers,
    async collect() {
      const reasons = await ask();
      if (reasons === undefined) return;
      this.reset();
      for (const reason of source.ids) this.set({ reason }, 0);
      for (const { id } of reasons) this.set({ reason: id }, 1);
    },
  });
  return (given) => {
    source = given;
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
  monitorRound: createRoundGauge(registers),
});

const createRoundGauge = (registers: Registry[]) => {
  const gauge = new Gauge({
    name: "prooftrail_monitor_round_timestamp_seconds",
    help: "When the monitor had last read the whole log, in seconds since 1970.",
    registers,
  });
  // No value, and not 1970, before the first round.
  gauge.remove({});
  return gauge;
};

const createReconciliationMetrics = (registers: Registry[]) => ({
  reconciledHours: new Counter({
    name: "prooftrail_reconciled_hours_total",
    help: "Hours of tenants held against what was acknowledged, by state: balanced, more_stored, not_counted, refused, missing_in_log, not_projected. The last three are alarms.",
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
