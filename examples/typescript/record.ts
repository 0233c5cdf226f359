/** Records each call of a function. The events wait in the folder ./outbox until the service has them, also while it is away. */
import { createClient, withAudit } from "prooftrail-sdk";

const audit = createClient({
  url: process.env.PROOFTRAIL_URL ?? "http://127.0.0.1:8080",
  apiKey: process.env.PROOFTRAIL_API_KEY ?? "",
  outbox: { directory: "./outbox" },
  source: "example",
  onRejected: (rejected) => process.stderr.write(`rejected: ${JSON.stringify(rejected)}\n`),
});

const decide = async (applicant: { readonly id: string; readonly income: number }) => ({
  decisionId: `dec_${applicant.id}`,
  isApproved: applicant.income > 30_000,
});

const decideOnRecord = withAudit(audit, decide, {
  asset_id: "loan_model",
  describe: ({ args: [applicant], result }) => ({
    event_type: "decision.automated_decision_made",
    risk_tier: "high",
    legal_bases: ["gdpr_art_22"],
    hash: { subject: applicant.id },
    metadata: { decision_id: result.decisionId, outcome: result.isApproved ? "approved" : "denied" },
  }),
});

await decideOnRecord({ id: "4711", income: 28_000 });
await decideOnRecord({ id: "4712", income: 52_000 });

const closed = await audit.close();
process.stdout.write(`${closed.kind} ${audit.stats.delivered}\n`);
