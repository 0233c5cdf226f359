/**
 * Kills a projector with kill -9 at random points, while it projects and while it rebuilds a view; then compares every view with one made from the log
 * at once. By hand: `bun test/chaos/kill-projector.ts [kills] [seed] [cases]`; with 400 cases or more it commits several groups together.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { verifyView } from "../../src/views/kit/verify.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import { createArrayLog } from "../projections/array-log.ts";
import { createChance } from "../support/histories/chance.ts";
import { within } from "../support/within.ts";
import { messagesOf, type ProjectorLog } from "./projector-log.ts";

const PROJECTOR = join(import.meta.dir, "projector.ts");
/** The number of cases of each asset. */
export const CASES = 150;
/** A projector takes about this many milliseconds for one case of each asset; the kill comes some time before. */
const LIFE_MS_PER_CASE = 6;

export interface Killed {
  readonly kills: number;
  /** The number of lives that ended by themselves before the kill. */
  readonly finished: number;
  readonly rows: number;
  readonly differences: readonly { readonly view: string; readonly table: string; readonly key: string }[];
}

export const killProjector = async (kills: number, parts: ProjectorLog): Promise<Killed> => {
  const { seed, cases } = parts;
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-kill-"));
  const chance = createChance(seed);
  try {
    const path = join(folder, "views.sqlite");
    let [killed, finished] = [0, 0];
    while (killed < kills) {
      // It starts over now and then, because at the end of the log there is nothing left to disturb.
      if (finished > 0 && chance.is(0.3))
        for (const end of ["", "-wal", "-shm"]) await rm(path + end, { force: true });
      const { name } = chance.one(PROJECTIONS);
      const rebuilt = chance.is(0.6) ? name : "-";
      const child = spawn(process.execPath, [PROJECTOR, path, String(seed), String(cases), rebuilt]);
      const ended = once(child, "exit");
      const failed = ended.then(([code]) => {
        throw new Error(`a projector ended with ${code} before it ran`);
      });
      await within("a projector runs", Promise.race([once(child.stdout, "data"), failed]));
      await Promise.race([delay(chance.below(LIFE_MS_PER_CASE * cases)), ended]);
      if (child.exitCode === null) killed++;
      else finished++;
      child.kill("SIGKILL");
      await within("a projector that was killed has ended", ended);
    }
    const last = spawn(process.execPath, [PROJECTOR, path, String(seed), String(cases), "-"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    // It exits by itself, and says why, if its views do not reach the end.
    const [code] = await once(last, "exit");
    if (code !== 0) throw new Error(`the last projector ended with ${code}`);
    return { kills: killed, finished, ...(await heldAgainstTheLog(path, parts)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const heldAgainstTheLog = async (
  path: string,
  parts: ProjectorLog,
): Promise<Pick<Killed, "rows" | "differences">> => {
  await using views = createSqliteViews({ path });
  const log = createArrayLog(messagesOf(parts));
  let rows = 0;
  const differences: Killed["differences"][number][] = [];
  for (const projection of PROJECTIONS) {
    const dependencies = { log, views, clock: () => new Date(0), onProgress: () => {} };
    const verified = await verifyView(dependencies, projection, new AbortController().signal);
    rows += verified.rows;
    for (const { table, key } of verified.differences)
      differences.push({ view: projection.name, table, key });
  }
  return { rows, differences };
};

if (import.meta.main) {
  const [kills = "50", seed = "1", cases = CASES] = process.argv.slice(2);
  const killed = await killProjector(Number(kills), { seed: Number(seed), cases: Number(cases) });
  process.stdout.write(`${JSON.stringify(killed, undefined, 2)}\n`);
  process.exitCode = killed.differences.length === 0 ? 0 : 1;
}
