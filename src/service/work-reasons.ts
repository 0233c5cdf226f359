/** What of the work beside requests is not done: sealing, monitoring, counting, and the room that is left for it. */
import { statfs } from "node:fs/promises";
import {
  DISK_FREE_BYTES_LOW,
  MONITOR_FAILING_MS_MAX,
  MONITOR_ROUND_MS_MAX,
  OTHER_STALL_MS_MAX,
  READINESS_WORK_MS_MAX,
} from "../limits.ts";
import type { StallReport } from "../nats/stall-clock.ts";
import { sizeText } from "../runtime/size-text.ts";
import { type HealthReason, warning } from "./health-reasons.ts";
import { inTime } from "./in-time.ts";
import type { MonitorState } from "./monitoring.ts";

export interface Work {
  /** Only in a process with the role sealer. */
  readonly sealer?:
    | {
        /** The age of the oldest record that no published head covers; 0 if there is none. */
        readonly unsealedMs: () => Promise<number>;
        /** Above it the sealer is behind. */
        readonly unsealedMsMax: number;
        readonly monitor: () => MonitorState;
      }
    | undefined;
  readonly countsStall: StallReport["stall"];
  /** Why HEADS_COPY cannot be relied on, as a sentence. */
  readonly copyProblem: () => Promise<string | undefined>;
  readonly diskFree: () => Promise<number>;
  readonly now: () => Date;
}

export const freeBytes = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

export const workReasons = async ({
  sealer,
  countsStall,
  copyProblem,
  diskFree,
  now,
}: Work): Promise<readonly HealthReason[]> => {
  const [free, unsealedMs, problem] = await Promise.all([
    inTime(diskFree(), READINESS_WORK_MS_MAX),
    sealer && inTime(sealer.unsealedMs(), READINESS_WORK_MS_MAX),
    inTime(copyProblem(), READINESS_WORK_MS_MAX),
  ]);
  const reasons: HealthReason[] = [];
  if (free !== undefined && free < DISK_FREE_BYTES_LOW)
    reasons.push(warning("disk_low", `Only ${sizeText(free)} are free on the disk of DATA_DIR.`));
  if (sealer && unsealedMs !== undefined && unsealedMs > sealer.unsealedMsMax)
    reasons.push(
      warning("sealer_behind", `A record has waited ${minutes(unsealedMs)} for a signed tree head.`),
    );
  if (sealer) reasons.push(...monitorReasons(sealer.monitor(), now().getTime()));
  if (problem !== undefined) reasons.push(warning("heads_copy_unavailable", problem));
  const lastedMs = countsStall()?.lastedMs ?? 0;
  if (lastedMs >= OTHER_STALL_MS_MAX)
    reasons.push(
      warning(
        "counts_not_kept",
        `No count of acknowledged events was stored for ${Math.round(lastedMs / 1000)} s.`,
      ),
    );
  return reasons;
};

const monitorReasons = (
  { roundAt, startedAt, failing }: MonitorState,
  now: number,
): readonly HealthReason[] => {
  const reasons: HealthReason[] = [];
  const sinceMs = now - (roundAt ?? startedAt).getTime();
  if (sinceMs > MONITOR_ROUND_MS_MAX)
    reasons.push(
      warning(
        "monitor_late",
        `The monitor has not read the whole log for ${Math.round(sinceMs / HOUR_MS)} hours.`,
      ),
    );
  if (failing && now - failing.since.getTime() > MONITOR_FAILING_MS_MAX)
    reasons.push(
      warning(
        "monitor_cannot_read",
        `The monitor could not read since ${failing.since.toISOString()}: ${failing.detail}.`,
      ),
    );
  return reasons;
};

const HOUR_MS = 60 * 60 * 1000;
const minutes = (ms: number): string => `${Math.round(ms / 60_000)} minutes`;
