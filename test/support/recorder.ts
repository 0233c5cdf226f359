/** A recorder without a log, for the tests of the rules: holds what was recorded, and decides whether the log accepts it. */
import type { ActionRecorder, Actor } from "../../src/access/action.ts";
import type { Action } from "../../src/access/administration/system-events.ts";
import type { Principal } from "../../src/access/authenticate.ts";

export interface MemoryRecorder extends ActionRecorder<Action> {
  /** In order; `result` is set when the work is done. */
  readonly recorded: readonly { readonly action: Action; readonly by: Actor; result?: string }[];
  setReachable(isReachable: boolean): void;
}

export const createMemoryRecorder = (): MemoryRecorder => {
  const recorded: { action: Action; by: Actor; result?: string }[] = [];
  let isReachable = true;
  return {
    recorded,
    setReachable: (value) => {
      isReachable = value;
    },
    carryOut: async ({ by, action, work }) => {
      if (!isReachable) return { kind: "unavailable", detail: "the log is away" };
      const entry: (typeof recorded)[number] = { action, by };
      recorded.push(entry);
      const result = await work(recorded.length);
      entry.result = result.kind;
      return result;
    },
  };
};

export const actor = (principal: Principal): Actor => ({
  principal,
  requestId: "019dd0a2-0000-7000-8000-000000000000",
});
