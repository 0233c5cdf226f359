import { createMetrics } from "../../src/telemetry/metrics.ts";
import { code, codes, page, prose, table } from "./markdown.ts";

/** prom-client keeps the labels of a metric on it, outside its types. */
const labelsOf = (metric: object): readonly string[] =>
  "labelNames" in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];

export const metricsPage = (): string => {
  const metrics = createMetrics();
  const own = metrics.registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith("prooftrail_"))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  return page(
    "Metrics",
    "Every process that listens has them at `GET /metrics`, in the Prometheus text format. Beside these there are the usual `process_…` and `nodejs_…` metrics. `/metrics` asks for no key and names your tenants: block it for the outside in your proxy. [Monitor](../how-to/monitor.md) has the alerts.",
    table(
      ["metric", "labels", "meaning"],
      own.map((metric) => [code(metric.name), codes(labelsOf(metric)), prose(metric.help)]),
    ),
  );
};
