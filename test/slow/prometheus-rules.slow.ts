/** deploy/prometheus/rules.yaml, checked by Prometheus's own tool, and tried on series as an installation would give them. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianProgram } from "../support/debian-program.ts";
import { root } from "../support/documents.ts";

const RULES = join(root, "deploy/prometheus/rules.yaml");

const promtool = await debianProgram(["prometheus"], "usr/bin/promtool");
const check = promtool.kind === "found" ? test : test.skip;
const name = (text: string): string =>
  promtool.kind === "found" ? text : `${text} (no promtool: ${promtool.reason})`;
const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(promtool.kind === "found" ? promtool.path : "", args, {
    encoding: "utf8",
  });
  return { status, said: stdout + stderr };
};

check(name("the rules are valid"), () => {
  expect(run("check", "rules", RULES)).toMatchObject({ status: 0 });
});

/** What `promtool test rules` reads; JSON is YAML. */
const trial = {
  rule_files: [RULES],
  evaluation_interval: "1m",
  tests: [
    {
      interval: "1m",
      input_series: [
        { series: 'prooftrail_health_reason{reason="heads_not_reached",instance="a"}', values: "0x4 1x10" },
        { series: 'prooftrail_health_reason{reason="monitor_late",instance="a"}', values: "0x20" },
        { series: 'prooftrail_append_outcomes_total{outcome="refused",instance="a"}', values: "0x4 3x10" },
        { series: 'prooftrail_projection_lag_seconds{projection="events",instance="a"}', values: "900x20" },
        // Another process knows that the view is further: the positions are those of one database.
        { series: 'prooftrail_projection_lag_seconds{projection="cases",instance="a"}', values: "900x20" },
        { series: 'prooftrail_projection_lag_seconds{projection="cases",instance="b"}', values: "0x20" },
      ],
      alert_rule_test: [
        { eval_time: "4m", alertname: "ProoftrailHeadsNotReached", exp_alerts: [] },
        {
          eval_time: "8m",
          alertname: "ProoftrailHeadsNotReached",
          exp_alerts: [
            {
              exp_labels: { severity: "critical", reason: "heads_not_reached", instance: "a" },
              exp_annotations: {
                summary: "The log does not reach the heads in HEADS_COPY: it lost its end or is another log.",
                description:
                  "Restore the log that has it. If it is lost for good: prooftrail restore accept --reason …",
              },
            },
          ],
        },
        { eval_time: "15m", alertname: "ProoftrailMonitorLate", exp_alerts: [] },
        {
          eval_time: "6m",
          alertname: "ProoftrailRefusesEvents",
          exp_alerts: [
            {
              exp_labels: { severity: "warning", instance: "a" },
              exp_annotations: {
                summary: "Events were answered with 503.",
                description:
                  "Senders retry them. If this lasts, /health/ready and the instance's log say why.",
              },
            },
          ],
        },
        {
          eval_time: "10m",
          alertname: "ProoftrailProjectionLags",
          exp_alerts: [
            {
              exp_labels: { severity: "warning", projection: "events" },
              exp_annotations: {
                summary: "A view is more than five minutes behind the log.",
                description:
                  "The error line `projecting stopped` gives the reason, such as a full disk or a database that rejects writes.",
              },
            },
          ],
        },
      ],
    },
  ],
};

check(name("the rules fire on what they are for, and on nothing else"), () => {
  const folder = mkdtempSync(join(tmpdir(), "prooftrail-rules-"));
  try {
    const path = join(folder, "trial.yaml");
    writeFileSync(path, JSON.stringify(trial));
    expect(run("test", "rules", path)).toMatchObject({ status: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
