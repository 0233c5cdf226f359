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
    httpRequests: new Counter({
      name: "prooftrail_http_requests_total",
      help: "Requests answered, by route pattern and status.",
      labelNames: ["method", "route", "status"],
      registers,
    }),
    httpDurationSeconds: new Histogram({
      name: "prooftrail_http_request_duration_seconds",
      help: "Time from the first byte of a request's head to its answer.",
      labelNames: ["route"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    appendOutcomes: new Counter({
      name: "prooftrail_append_outcomes_total",
      help: "Records by what became of them: appended, duplicate, refused, unknown.",
      labelNames: ["outcome"],
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
