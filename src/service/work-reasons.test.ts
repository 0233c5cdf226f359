import { expect, test } from "bun:test";
import {
  DISK_FREE_BYTES_LOW,
  MONITOR_FAILING_MS_MAX,
  MONITOR_ROUND_MS_MAX,
  OTHER_STALL_MS_MAX,
  UNSEALED_MS_MAX,
} from "../limits.ts";
import type { HealthReasonId } from "./health-reasons.ts";
import { type Work, workReasons } from "./work-reasons.ts";

const NOW = new Date("2026-11-29T10:00:00Z");
const ago = (ms: number): Date => new Date(NOW.getTime() - ms);

/** Everything at its bound, which is still well. */
const work = (changes: {
  readonly unsealedMs?: number;
  readonly roundAt?: Date;
  readonly failingMs?: number;
  readonly free?: number;
  readonly stalledMs?: number;
  readonly copy?: string;
}): Work => {
  const { unsealedMs = UNSEALED_MS_MAX, roundAt, failingMs = MONITOR_FAILING_MS_MAX } = changes;
  return {
    sealer: {
      unsealedMs: async () => unsealedMs,
      unsealedMsMax: UNSEALED_MS_MAX,
      monitor: () => ({
        startedAt: ago(MONITOR_ROUND_MS_MAX),
        roundAt,
        failing: { since: ago(failingMs), detail: "TIMEOUT" },
      }),
    },
    countsStall: () => ({ lastedMs: changes.stalledMs ?? OTHER_STALL_MS_MAX - 1, agoMs: 0 }),
    copyProblem: async () => changes.copy,
    diskFree: async () => changes.free ?? DISK_FREE_BYTES_LOW,
    now: () => NOW,
  };
};

const CASES: readonly (readonly [HealthReasonId, Parameters<typeof work>[0]])[] = [
  ["sealer_behind", { unsealedMs: UNSEALED_MS_MAX + 1 }],
  ["monitor_late", { roundAt: ago(MONITOR_ROUND_MS_MAX + 1) }],
  ["monitor_cannot_read", { failingMs: MONITOR_FAILING_MS_MAX + 1 }],
  ["counts_not_kept", { stalledMs: OTHER_STALL_MS_MAX }],
  ["heads_copy_unavailable", { copy: "ENOENT: no such file or directory" }],
  ["disk_low", { free: DISK_FREE_BYTES_LOW - 1 }],
];

test("work that is as late as it may be is no reason", async () => {
  expect(await workReasons(work({}))).toEqual([]);
});

test.each(CASES)("%s is a warning: the instance goes on serving", async (id, changes) => {
  const found = await workReasons(work(changes));
  expect(found).toEqual([{ id, detail: expect.stringMatching(/^[A-Z].*[.!]$/), isBlocking: false }]);
});

test("what cannot be asked in time, or is not done here, is no reason", async () => {
  const { countsStall, copyProblem, now } = work({});
  const diskFree = async () => Promise.reject(new Error("no such folder"));
  expect(await workReasons({ countsStall, copyProblem, diskFree, now })).toEqual([]);
});
