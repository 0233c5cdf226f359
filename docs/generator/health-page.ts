import { HEALTH_REASONS } from "../../src/service/health-reasons.ts";
import { code, page, prose, table } from "./markdown.ts";

export const healthPage = (): string =>
  page(
    "Health reasons",
    "Everything that can be wrong with a running installation. `GET /health/ready` names the reasons (`reason_ids` with 503, `warnings` with 200), `prooftrail doctor` prints them, the metric `prooftrail_health_reason` has one series for each, and `deploy/prometheus/rules.yaml` one alert. A critical reason makes the instance not ready.",
    table(
      ["reason", "severity", "means", "do"],
      Object.entries(HEALTH_REASONS).map(([id, { severity, summary, advice }]) => [
        code(id),
        severity,
        prose(summary),
        prose(advice),
      ]),
    ),
  );
