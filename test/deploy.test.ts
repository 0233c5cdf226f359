/** What deploy/ holds for Prometheus and Grafana, compared with the metrics and the health reasons that there are. */
import { expect, test } from "bun:test";
import { HEALTH_REASONS } from "../src/service/health-reasons.ts";
import { createMetrics } from "../src/telemetry/metrics.ts";
import { read } from "./support/documents.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

const rules = (): readonly Rule[] => {
  const { groups } = Bun.YAML.parse(read("deploy/prometheus/rules.yaml")) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return groups.flatMap((group) => group.rules);
};

const named = (text: string): readonly string[] => [
  ...new Set(text.match(/\b(?:prooftrail|process|nodejs)_[a-z_]+\b/g)),
];

const catalogue = async (): Promise<ReadonlySet<string>> => {
  const text = await createMetrics().registry.metrics();
  return new Set(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
};

test("every metric in the rules and on the dashboard exists", async () => {
  const known = await catalogue();
  const inRules = rules().flatMap(({ expr }) => named(expr));
  const dashboard: {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  } = JSON.parse(read("deploy/grafana/prooftrail.json"));
  const onDashboard = dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => named(expr)));
  for (const names of [inRules, onDashboard]) {
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  }
});

test("every health reason has a rule with its words and its severity", () => {
  const ofReasons = rules().flatMap(({ expr, labels, annotations }) => {
    const [, id] = /^prooftrail_health_reason\{reason="(\w+)"\} == 1$/.exec(expr) ?? [];
    return id === undefined ? [] : [[id, { ...annotations, severity: labels.severity }] as const];
  });
  expect(ofReasons).toEqual(
    Object.entries(HEALTH_REASONS).map(([id, { summary, advice, severity }]) => [
      id,
      { summary, description: advice, severity },
    ]),
  );
});

test("no two rules have the same name", () => {
  const names = rules().map(({ alert }) => alert);
  expect(new Set(names).size).toBe(names.length);
});
