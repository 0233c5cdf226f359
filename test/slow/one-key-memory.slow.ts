/** What one key costs a front end at most, in a process of its own so that no other memory is counted. */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { dataFolder, spawnService } from "../support/process.ts";
import { ADMIN_KEY, event } from "../support/service.ts";
import { until } from "../support/until.ts";

const MB = 1_000_000;
const AT_ONCE = 40;
/** Measured in MB: 110 after the start, 330 to 350 at most, and 135 two seconds afterwards where memory is given back; before there were these bounds 950. */
const PEAK_MAX = 400;
const RESIDENT_AFTER_MAX = 200;

test.each<[string, Record<string, string>]>([
  ["stays under 400 MB", {}],
  ["stays under 400 MB and gives memory back, if its allocator may", { MIMALLOC_PURGE_DELAY: "1000" }],
])("while one key sends as many of the largest batches as it can, a front end %s", async (_, environment) => {
  await using folder = await dataFolder();
  await using service = await spawnService({
    dataDir: folder.path,
    runtime: "Bun",
    environment: { ADMIN_API_KEY: ADMIN_KEY, ROLES: "api", ...environment },
  });
  await service.untilReady();
  const note = "x".repeat(15_500);
  const bodyOf = (batch: number): string =>
    JSON.stringify({
      events: Array.from({ length: 1000 }, (_, index) =>
        event({ event_id: `evt_${batch}_${index}`, metadata: { note } }),
      ),
    });
  const statuses = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, batch) => {
      const answer = await service.call("/v1/events/batch", { key: ADMIN_KEY, body: bodyOf(batch) });
      return answer.status;
    }),
  );
  expect(statuses).toContain(202);
  const memory = async (name: string): Promise<number> => {
    const status = await readFile(`/proc/${service.pid}/status`, "utf8");
    return (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024) / MB;
  };

  expect(await memory("VmHWM")).toBeLessThan(PEAK_MAX);
  if (environment.MIMALLOC_PURGE_DELAY === undefined) return;
  await until("memory is given back", async () => (await memory("VmRSS")) < RESIDENT_AFTER_MAX);
});
