/** Every metric, with its unit, in one table. Read at `GET /metrics` in the Prometheus text format. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export type Metrics = ReturnType<typeof createMetrics>;

/** One registry per service, so that several services may live in one process. */
export const createMetrics = () => {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    countRequest: createRequestCount(registers),
    countOutcomes: createOutcomeCount(registers),
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
      help: "Sequence of the last record that a projection has taken.",
      labelNames: ["projection"],
      registers,
    }),
    deadLetters: new Counter({
      name: "prooftrail_dead_letters_total",
      help: "Records that a projection could not take; see the dead-letter view.",
      labelNames: ["projection"],
      registers,
    }),
    projectionAlarms: new Counter({
      name: "prooftrail_projection_alarms_total",
      help: "Times a projection stopped because the log had a hole, or ended before what the view has seen.",
      labelNames: ["projection", "alarm"],
      registers,
    }),
  };
};

const KNOWN_METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Every combination of labels is looked up by one text: hashing an object of labels per request costs more (measured). */
const createRequestCount = (registers: Registry[]) => {
  const requests = new Counter({
    name: "prooftrail_http_requests_total",
    help: "Requests answered, by route pattern and status.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "prooftrail_http_request_duration_seconds",
    help: "Time from the head of a request to its answer.",
    labelNames: ["route"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const bound = new Map<string, { count: { inc(): void }; duration: { observe(seconds: number): void } }>();
  return (request: { method: string; route: string; status: number; seconds: number }): void => {
    const { route, status, seconds } = request;
    // Anybody may invent methods; labels must not grow with them.
    const method = KNOWN_METHODS.has(request.method) ? request.method : "other";
    const name = `${method} ${status} ${route}`;
    let found = bound.get(name);
    if (!found) {
      found = { count: requests.labels({ method, route, status }), duration: durations.labels({ route }) };
      bound.set(name, found);
    }
    found.count.inc();
    found.duration.observe(seconds);
  };
};

/** One counter per outcome, bound once, and counted per kind first: one call per record would cost as much as the record. */
const createOutcomeCount = (registers: Registry[]) => {
  const outcomes = new Counter({
    name: "prooftrail_append_outcomes_total",
    help: "Records by what became of them: appended, duplicate, refused, unknown.",
    labelNames: ["outcome"],
    registers,
  });
  const bound = {
    appended: outcomes.labels("appended"),
    duplicate: outcomes.labels("duplicate"),
    refused: outcomes.labels("refused"),
    unknown: outcomes.labels("unknown"),
  };
  return (records: readonly { readonly kind: keyof typeof bound }[]): void => {
    const counts = { appended: 0, duplicate: 0, refused: 0, unknown: 0 };
    for (const { kind } of records) counts[kind]++;
    for (const kind of OUTCOMES) if (counts[kind] > 0) bound[kind].inc(counts[kind]);
  };
};

const OUTCOMES = ["appended", "duplicate", "refused", "unknown"] as const;
