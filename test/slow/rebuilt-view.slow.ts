/** Requests while a view is rebuilt wait for it, as long as a request may. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, startTestService } from "../support/service.ts";
import { openViewsFile } from "../support/views-file.ts";

describe("while a view is rebuilt", () => {
  let dataDir = "";
  let sequence = 0;
  let reader = "";
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "prooftrail-behind-"));
    await using first = await startTestService({ DATA_DIR: dataDir, CHECKPOINT_INTERVAL: "300ms" });
    reader = await first.makeKey("acme");
    const events = Array.from({ length: 300 }, (_, index) =>
      event({ event_id: `evt_${index}`, metadata: { decision_id: `d${index}` } }),
    );
    const sent = await first.call("/v1/events/batch", { key: reader, body: { events } });
    sequence = sent.json.data.sequence;
    for (const path of ["log/checkpoint", "assets", "reconciliation", "decisions/d1"])
      await first.call(`/v1/${path}?min_sequence=${sequence}`, { key: reader });
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  /** Statuses from an instance that moves no views, on the file as a projector leaves it halfway. */
  const statusesAfter = async (sql: string, paths: readonly string[]) => {
    const database = openViewsFile(dataDir);
    await database.exec(sql);
    database.close();
    await using front = await startTestService({ DATA_DIR: dataDir, ROLES: "api" });
    const answers = paths.map((path) =>
      front.call(`/v1/${path}min_sequence=${sequence}`, { key: reader, isOnce: true }),
    );
    return (await Promise.all(answers)).map(({ status }) => status);
  };

  test.concurrent("a request that reads this view and others waits for it, and the answer says so", async () => {
    const assets = "DELETE FROM assets; UPDATE views SET position = 0 WHERE name = 'assets'";
    expect(await statusesAfter(assets, ["assets/credit_model/timeline?"])).toEqual([503]);
    const events = "DELETE FROM events; UPDATE views SET position = 0 WHERE name = 'events'";
    expect(await statusesAfter(events, ["decisions/d1?", "reconciliation?"])).toEqual([503, 503]);
  });
});
