/** What straight-way.slow.ts measures: TIMES events of one kind, each sent, read back, and, for obligations, announced. Run by `bun test --coverage`. */
import { test } from "bun:test";
import process from "node:process";
import { event, startTestService } from "./service.ts";
import { until } from "./until.ts";

const TIMES = Number(process.env.TIMES ?? "0");
const DAY_MS = 86_400_000;
const isAboutObligations = process.env.KIND === "obligation";

test("events go their way", async () => {
  await using service = await startTestService();
  const key = await service.makeKey("acme");
  for (let n = 0; n < TIMES; n++) {
    const sent = await service.call("/v1/events", {
      key,
      body: isAboutObligations
        ? event({
            event_id: `evt_${n}`,
            event_type: "objection.received",
            timestamp: new Date(Date.now() - 60 * DAY_MS).toISOString(),
            metadata: { objection_id: `obj_${n}`, legal_bases: ["gdpr_art_22"] },
          })
        : event({ event_id: `evt_${n}` }),
    });
    if (sent.status !== 202) throw new Error(sent.text);
    const after = `min_sequence=${sent.json.data.sequence}`;
    const path = isAboutObligations
      ? `/v1/obligations?objection_id=obj_${n}&${after}`
      : `/v1/events/evt_${n}?${after}`;
    const read = await service.call(path, { key });
    if (read.status !== 200 || read.json.data.length === 0) throw new Error(read.text);
  }
  if (isAboutObligations && TIMES > 0)
    await until("all are announced", async () => {
      const { text } = await service.call("/metrics");
      const counts = [...text.matchAll(/^prooftrail_duties_announced_total\S* (\d+)$/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0) >= TIMES;
    });
});
