/** Memory under full load: `bun bench/soak.ts [minutes]`, single events on 256 connections. Linux, for /proc. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLoader } from "./programs.ts";
import { startSubject } from "./subject.ts";

const minutes = Number(process.argv[2] ?? 10);

/** Resident memory in MB. */
const memoryOf = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);

const folder = await mkdtemp(join(tmpdir(), "prooftrail-soak-"));
try {
  await using subject = await startSubject(join(folder, "data"), "api");
  await using loader = startLoader();
  process.stdout.write(
    "| minute | events | refused | p99 ms | front end MB | broker MB |\n|---|---|---|---|---|---|\n",
  );
  for (let minute = 1; minute <= minutes; minute++) {
    const { port, key, servicePid, brokerPid } = subject;
    const { events, refused, p99 } = await loader.load({
      port,
      key,
      speaks: "prooftrail",
      connections: 256,
      batchEvents: 0,
      seconds: 60,
      run: `m${minute}`,
    });
    const memory = [memoryOf(servicePid), memoryOf(brokerPid)];
    process.stdout.write(
      `| ${minute} | ${events} | ${refused} | ${p99.toFixed(1)} | ${memory.join(" | ")} |\n`,
    );
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
