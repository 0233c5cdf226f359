/** Calls an audited function that rejects: one call is handled, the other one is not. */
import process from "node:process";
import { createTestClient, withAudit } from "prooftrail-sdk";

const client = createTestClient();
const fail = withAudit(client, async (who: string) => Promise.reject(new Error(who)), {
  asset_id: "credit_model",
  describe: () => undefined,
});
process.on("unhandledRejection", (reason) => {
  process.stdout.write(`unhandled: ${reason instanceof Error ? reason.message : "?"}\n`);
});
fail("handled").catch(() => {});
void fail("nobody's");
