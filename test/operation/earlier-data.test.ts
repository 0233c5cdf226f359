/**
 * A DATA_DIR that v0.1.0 wrote (c4222240: 37 events, a policy, a hold, a revoked key) starts under this program, with all that it held. Beside it lie
 * what v0.1.0 answered: its export, its tree head, and an evidence bundle.
 */
import { describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { runCli } from "../support/cli.ts";
import { dataFolder, readyService } from "../support/process.ts";
import { ADMIN_KEY } from "../support/service.ts";

const EARLIER = join(import.meta.dir, "data-of-0.1.0");
/** A key of the tenant acme, made by v0.1.0. */
const ACME_KEY = "ptk_syBSUIp94k9W_oAzAUNlXcgFOuFH3ClTV2Ng5S5ishswC_4TVH6J";

const textOf = (name: string): Promise<string> => readFile(join(EARLIER, name), "utf8");
/** A tree head without its signatures: origin, size, root. */
const headOf = (checkpoint: string): string => checkpoint.split("\n\n")[0] ?? "";

describe("a folder of v0.1.0", () => {
  test("starts, and its events, proofs, keys, policy and hold are there", async () => {
    await using folder = await dataFolder();
    await promisify(execFile)("tar", ["-xzf", join(EARLIER, "data-folder.tar.gz"), "-C", folder.path]);
    await using service = await readyService({
      dataDir: folder.path,
      environment: { ADMIN_API_KEY: ADMIN_KEY },
    });
    const ask = (path: string, options = {}) => service.call(path, { key: ACME_KEY, ...options });

    const all = await ask("/v1/export?format=ndjson&min_sequence=40");
    expect([all.status, all.text]).toEqual([200, await textOf("export.ndjson")]);
    expect(headOf((await ask("/v1/log/checkpoint")).text)).toBe(headOf(await textOf("checkpoint.txt")));
    expect((await ask("/v1/events/evt_decision/proof")).status).toBe(200);
    const [objection] = (await ask("/v1/registers/objections")).json.data;
    expect(objection).toMatchObject({ objection_id: "obj_1", decision_id: "dec_1" });
    const [hold] = (await ask("/v1/holds")).json.data;
    expect(hold).toMatchObject({ reason: "litigation 2026/17", correlation_id: "case_1" });
    expect((await ask("/v1/retention")).json.data.policy).toEqual({ maximum_days: 4000 });

    const again = JSON.stringify(JSON.parse((await textOf("export.ndjson")).split("\n")[2] ?? "").event);
    const repeated = await ask("/v1/events?resent=true", { body: again });
    expect(repeated.json.data).toMatchObject({ event_id: "evt_decision", sequence: 6, duplicate: true });
    const next = await ask("/v1/events", { body: again.replace("evt_decision", "evt_after") });
    expect(next.json.data).toMatchObject({ event_id: "evt_after", duplicate: false });
    expect(next.json.data.sequence).toBeGreaterThan(40);
    expect(service.output).not.toContain('"level":"error"');
  });

  test("has bundles that still verify", async () => {
    const { code, out } = await runCli(["verify", join(EARLIER, "evidence.zip")]);
    expect([code, out]).toEqual([0, expect.stringContaining("VALID")]);
  });
});
