/** Every metric, with its unit. Read at `GET /metrics` in the Prometheus text format. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export type Metrics = ReturnType<typeof createMetrics>;

/** One registry per service, so that several services may live in one process. */
export const createMetrics = () => {
  const registry = new Registry();
  const registers = [registry];
  measureProcess(registry);
  return {
    registry,
    ...createRequestMetrics(registers),
    ...createLogMetrics(registers),
    ...createViewMetrics(registers),
    ...createProofMetrics(registers),
    watch: createWatches(registers),
    buildInfo: gaugesIn(registers)(
      "prooftrail_build_info",
      "Always 1: the version of Prooftrail and its runtime.",
      "version",
      "runtime",
    ),
  };
};

const countersIn =
  (registers: Registry[]) =>
  <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });

const gaugesIn =
  (registers: Registry[]) =>
  <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });

/** Creates the series with 0. Prometheus sees no increase in a series that begins with its first alarm. */
export const countFromZero = <Label extends string>(
  counter: Counter<Label>,
  label: NoInfer<Label>,
  values: readonly string[],
  otherLabels: Partial<Readonly<Record<NoInfer<Label>, string>>> = {},
): void => {
  for (const value of values) counter.inc({ ...otherLabels, [label]: value }, 0);
};

/** The library's 10 ms would wake an idle process a hundred times a second, a hundredth of a core (measured). */
const LOOP_DELAY_MS = 100;

const measureProcess = (registry: Registry): void => {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_DELAY_MS });
  // Bun walks the whole heap for these, and blocks for 20 to 140 ms (measured). Their sums are in `nodejs_heap_size_*`.
  for (const size of ["total", "used", "available"])
    registry.removeSingleMetric(`nodejs_heap_space_size_${size}_bytes`);
};

const KNOWN_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

interface CountedRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

/** Upper bounds in seconds. */
const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Requests of one kind: how many took how long, one count for each of DURATIONS and one for longer ones. */
interface CountedRequests extends Omit<CountedRequest, "seconds"> {
  readonly counts: number[];
  seconds: number;
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

/** Counted in plain numbers until metrics are read: the library hashes the labels of each call, two microseconds for a request (measured). */
const createRequestMetrics = (registers: Registry[]) => {
  const kinds: CountedRequests[] = [];
  new Counter({
    name: "prooftrail_http_requests_total",
    help: "Requests answered, by route pattern and status.",
    labelNames: ["method", "route", "status"],
    registers,
    collect() {
      this.reset();
      for (const { counts, seconds: _, ...labels } of kinds) this.inc(labels, sumOf(counts));
    },
  });
  new Histogram({
    name: "prooftrail_http_request_duration_seconds",
    help: "Time from the head of a request to its answer.",
    labelNames: ["route"],
    buckets: DURATIONS,
    registers,
    collect() {
      const routes = [...Map.groupBy(kinds, ({ route }) => route)].map(([route, ofRoute]) => ({
        labels: { route },
        bucketValues: Object.fromEntries(
          DURATIONS.map((bound, index) => [bound, sumOf(ofRoute.map(({ counts }) => counts[index] ?? 0))]),
        ),
        sum: sumOf(ofRoute.map(({ seconds }) => seconds)),
        count: sumOf(ofRoute.flatMap(({ counts }) => counts)),
      }));
      // Where the library keeps what was observed (prom-client 15.1.3); its types do not have it.
      Reflect.set(this, "hashMap", routes);
    },
  });
  const kindOf = (method: string, route: string, status: number): CountedRequests => {
    const known = kinds.find(
      (kind) => kind.route === route && kind.status === status && kind.method === method,
    );
    if (known) return known;
    const counts = new Array<number>(DURATIONS.length + 1).fill(0);
    const kind = { method, route, status, counts, seconds: 0 };
    kinds.push(kind);
    return kind;
  };
  return {
    countRequest: ({ method, route, status, seconds }: CountedRequest): void => {
      // Anybody may invent methods. They must not become labels.
      const kind = kindOf(KNOWN_METHODS.includes(method) ? method : "other", route, status);
      const bucket = DURATIONS.findIndex((bound) => seconds <= bound);
      const index = bucket < 0 ? DURATIONS.length : bucket;
      kind.counts[index] = (kind.counts[index] ?? 0) + 1;
      kind.seconds += seconds;
    },
  };
};

const createLogMetrics = (registers: Registry[]) => {
  const counter = countersIn(registers);
  const outcomes = { appended: 0, duplicate: 0, refused: 0, unknown: 0 };
  new Counter({
    name: "prooftrail_append_outcomes_total",
    help: "Records by outcome: appended, duplicate, refused, unknown.",
    labelNames: ["outcome"],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(outcomes)) this.inc({ outcome }, count);
    },
  });
  return {
    /** In plain numbers until metrics are read: the library's counting costs as much as the record. */
    countOutcomes: (records: readonly { readonly kind: keyof typeof outcomes }[]): void => {
      for (const { kind } of records) outcomes[kind]++;
    },
    commitRecords: new Histogram({
      name: "prooftrail_commit_records",
      help: "Records in one commit, acknowledged by one fsync.",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000],
      registers,
    }),
    unknownFields: counter(
      "prooftrail_unknown_fields_total",
      "Unknown members of events; stored, and answered with a warning.",
    ),
    administrativeActions: counter(
      "prooftrail_administrative_actions_total",
      "Administrative actions by event type and outcome: done; refused, because the log did not accept the event; failed, after it had.",
      "event_type",
      "outcome",
    ),
  };
};

const createViewMetrics = (registers: Registry[]) => {
  const [counter, gauge] = [countersIn(registers), gaugesIn(registers)];
  return {
    projectionRecords: counter(
      "prooftrail_projection_records_total",
      "Records a projection has processed.",
      "projection",
    ),
    projectionPosition: gauge(
      "prooftrail_projection_position",
      "Sequence of the last record that a projection has processed. How far it is behind: prooftrail_log_last_sequence minus this.",
      "projection",
    ),
    deadLetters: counter(
      "prooftrail_dead_letters_total",
      "Records that a projection could not process; see the dead letters.",
      "projection",
    ),
    projectionAlarms: counter(
      "prooftrail_projection_alarms_total",
      "Times a projection stopped because the log had a hole, ended before what the view has seen, or held another record there.",
      "projection",
      "alarm",
    ),
    expiredEvents: counter(
      "prooftrail_expired_events_total",
      "Events that the views no longer show, by the retention of their tenant. The log still has them.",
    ),
    dutiesAnnounced: counter(
      "prooftrail_duties_announced_total",
      "Transitions of obligations published, by transition: open, due, met, late, late_record, breached, waived.",
      "transition",
    ),
    dutiesPosition: gauge(
      "prooftrail_duties_position",
      "Sequence up to which transitions of obligations are published; at most a projection's position.",
    ),
    reconciledHours: counter(
      "prooftrail_reconciled_hours_total",
      "Hours of tenants compared with what was acknowledged, by state: balanced, more_stored, not_counted, refused, missing_in_log, not_projected. The last three are alarms.",
      "tenant",
      "state",
    ),
    reconciliationAlarms: counter(
      "prooftrail_reconciliation_alarms_total",
      "Hours of tenants that do not balance, by state: refused, missing_in_log, not_projected. Each is an alarm; prooftrail_reconciled_hours_total names the tenant.",
      "state",
    ),
    reconciledEvents: gauge(
      "prooftrail_reconciled_events",
      "Of the last hour that was reconciled, of each tenant that was counted in it: events accepted, records stored, events projected.",
      "tenant",
      "stage",
    ),
  };
};

const createProofMetrics = (registers: Registry[]) => {
  const [counter, gauge] = [countersIn(registers), gaugesIn(registers)];
  const monitorRound = gauge(
    "prooftrail_monitor_round_timestamp_seconds",
    "When the monitor last finished reading the whole log, in seconds since 1970.",
  );
  // No value, and not 1970, before the first round.
  monitorRound.remove({});
  return {
    sealOutcomes: counter(
      "prooftrail_seals_total",
      "Looks at trees that grew, by outcome: sealed, current, view_behind, overtaken, refused. The last is an alarm.",
      "outcome",
    ),
    monitorAlarms: counter(
      "prooftrail_monitor_alarms_total",
      "Differences between the log, its tree and what was signed, by kind. Each is an alarm.",
      "kind",
    ),
    monitorPosition: gauge(
      "prooftrail_monitor_position",
      "Sequence up to which the trees were recomputed from the log.",
    ),
    monitorRound,
  };
};

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Called whenever metrics are read. If it gives undefined, the last known values stay. */
type Asked = () => Promise<readonly Sample[] | undefined>;

/** Not ready at first: a process that waits for its broker or the database of its views serves nobody. */
const FROM_THE_START: Readonly<Record<string, readonly Sample[] | undefined>> = {
  prooftrail_ready: [{ value: 0 }],
  prooftrail_health_reason: [{ labels: { reason: "starting" }, value: 1 }],
};

/** Values that are computed when somebody reads them: each takes the function that computes them. */
const createWatches = (registers: Registry[]) => {
  const watch = (name: string, help: string, ...labelNames: string[]) => {
    let ask: Asked = async () => FROM_THE_START[name];
    const gauge = new Gauge({
      name,
      help,
      labelNames,
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
    ready: watch(
      "prooftrail_ready",
      "1 where GET /health/ready says that this instance can serve, 0 where it names a reason. 0 for minutes is an alarm: see there.",
    ),
    healthReason: watch(
      "prooftrail_health_reason",
      "1 where something is wrong with this instance or its installation, by reason; GET /health/ready says more.",
      "reason",
    ),
    logLastSequence: watch(
      "prooftrail_log_last_sequence",
      "Sequence of the newest record in the log, when it was last seen.",
    ),
    logCopies: watch(
      "prooftrail_log_copies",
      "Servers that hold the whole log, when it was last seen. Less than STREAM_REPLICAS for minutes is an alarm: one is away, or stays behind.",
    ),
    projectionLag: watch(
      "prooftrail_projection_lag_seconds",
      "Age of the oldest record that a projection has not processed; 0 if there is none.",
      "projection",
    ),
    unsealedAge: watch(
      "prooftrail_unsealed_age_seconds",
      "Age of the oldest record that no signed tree head covers; 0 if all are covered. Only with the role sealer.",
    ),
    obligations: watch(
      "prooftrail_obligations",
      "Obligations of all tenants by state, as last counted. Only with the role projector.",
      "state",
    ),
    diskFree: watch(
      "prooftrail_disk_free_bytes",
      "Free bytes on the disk of a folder: data for DATA_DIR, heads_copy for HEADS_COPY.",
      "folder",
    ),
    brokerStored: watch(
      "prooftrail_broker_stored_bytes",
      "Bytes that streams use in the account of the broker, by storage: memory, disk.",
      "storage",
    ),
    brokerReserved: watch("prooftrail_broker_reserved_bytes", "Bytes that streams reserve there.", "storage"),
    brokerLimit: watch(
      "prooftrail_broker_limit_bytes",
      "Bytes that the account may store there; no sample where it has no limit.",
      "storage",
    ),
  };
};
