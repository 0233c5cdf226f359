/** The rules of policies and holds, without a broker. */
import { expect, test } from "bun:test";
import { actor, createMemoryRecorder } from "../../../test/support/recorder.ts";
import { HOLDS_PER_TENANT_MAX } from "../../limits.ts";
import type { ActionResult } from "../action.ts";
import type { Principal } from "../authenticate.ts";
import type { HoldRecord, PolicyRecord, RetentionStore } from "./records.ts";
import { createRetention } from "./retention.ts";

const principal: Principal = {
  keyId: "k".repeat(12),
  tenant: "acme",
  scopes: ["keys:manage"],
  isAdmin: false,
};

const createMemory = () => {
  const holds = new Map<string, { record: HoldRecord; revision: number }>();
  const policies = new Map<string, { record: PolicyRecord; revision: number }>();
  let conflicts = 0;
  let answer: ActionResult | undefined;
  let crossing = async (): Promise<void> => {};
  const store: RetentionStore = {
    read: async () => ({
      policies: [...policies.values()].map(({ record }) => record),
      policyRevisions: new Map([...policies].map(([tenant, { revision }]) => [tenant, revision])),
      holds: [...holds.values()],
    }),
    putPolicy: async (record, revision) => {
      const crossed = crossing;
      crossing = async () => {};
      await crossed();
      if (answer) return answer;
      if (conflicts-- > 0 || (policies.get(record.tenant)?.revision ?? 0) !== revision)
        return { kind: "conflict" };
      policies.set(record.tenant, { record, revision: revision + 1 });
      return { kind: "written" };
    },
    createHold: async (record) => {
      if (answer) return answer;
      holds.set(record.id, { record, revision: 1 });
      return { kind: "written" };
    },
    updateHold: async (record, revision) => {
      if (conflicts-- > 0 || holds.get(record.id)?.revision !== revision) return { kind: "conflict" };
      holds.set(record.id, { record, revision: revision + 1 });
      return { kind: "written" };
    },
  };
  let made = 0;
  const recorder = createMemoryRecorder();
  const create = () =>
    createRetention({
      store,
      recorder,
      now: () => new Date("2026-11-20T10:00:00Z"),
      newId: () => `00000000-0000-7000-8000-${String(made++).padStart(12, "0")}`,
    });
  return {
    retention: create(),
    /** This is another front end. */
    another: create(),
    recorder,
    setConflicts: (count: number) => {
      conflicts = count;
    },
    beforeNextPut: (work: () => Promise<void>) => {
      crossing = work;
    },
    setAnswer: (write: ActionResult | undefined) => {
      answer = write;
    },
  };
};

const request = { asset_id: "a", reason: "r" };

test("a tenant may have a limited number of holds; released ones and those of others do not count", async () => {
  const { retention } = createMemory();
  const ofOther = { ...principal, tenant: "other" };
  let first = "";
  for (let count = 0; count < HOLDS_PER_TENANT_MAX; count++) {
    await retention.placeHold({ by: actor(ofOther), request });
    const placed = await retention.placeHold({ by: actor(principal), request });
    if (placed.kind !== "hold") throw new Error(placed.kind);
    first ||= placed.hold.id;
  }
  expect(await retention.placeHold({ by: actor(principal), request })).toMatchObject({
    kind: "invalid",
    problems: [{ code: "too_many", message: expect.stringContaining("release one") }],
  });
  expect(await retention.releaseHold({ by: actor(principal), id: first })).toMatchObject({
    hold: { released_by: principal.keyId },
  });
  expect((await retention.placeHold({ by: actor(principal), request })).kind).toBe("hold");
});

test.each([
  [{ maximum_days: 400, minimum_days: 400 }, "policy"],
  [{ maximum_days: 400, minimum_days: 401 }, "invalid"],
  [{ minimum_days: 400, tiers: { low: { maximum_days: 400 } } }, "policy"],
  [{ minimum_days: 401, tiers: { low: { maximum_days: 400 } } }, "invalid"],
  [{ minimum_days: 401, tiers: { low: { maximum_days: 400, minimum_days: 400 } } }, "policy"],
])("%j is answered with %s: a maximum must not be below its minimum", async (policy, kind) => {
  const { retention } = createMemory();
  expect(await retention.setPolicy({ by: actor(principal), request: policy })).toMatchObject({ kind });
});

test("of two simultaneous policies, the one recorded last among those carried out applies", async () => {
  const { retention, another, recorder, beforeNextPut } = createMemory();
  const set = (maximum_days: number, by = retention) =>
    by.setPolicy({ by: actor(principal), request: { maximum_days } });
  beforeNextPut(async () => void (await set(500, another)));
  expect((await set(400)).kind).toBe("policy");
  const told = recorder.recorded.map(({ action, result }) => ({ details: action.details, result }));
  expect(told).toMatchObject([
    { details: { policy: { maximum_days: 400 } }, result: "conflict" },
    { details: { policy: { maximum_days: 500 } }, result: "written" },
    { details: { policy: { maximum_days: 400 } }, result: "written" },
  ]);
  expect(await retention.policy({ principal, tenant: undefined })).toMatchObject({
    record: { policy: { maximum_days: 400 } },
  });
});

test("policies that reach one front end at the same time are recorded one after another", async () => {
  const { retention, recorder } = createMemory();
  const days = [400, 500, 600, 700, 800, 900];
  const answers = await Promise.all(
    days.map((maximum_days) => retention.setPolicy({ by: actor(principal), request: { maximum_days } })),
  );
  expect(answers.map(({ kind }) => kind)).toEqual(days.map(() => "policy"));
  expect(recorder.recorded.map(({ result }) => result)).toEqual(days.map(() => "written"));
});

test.each(["policy", "release"])(
  "a %s is retried after a conflict, and given up after three in a row",
  async (what) => {
    const { retention, setConflicts } = createMemory();
    const placed = await retention.placeHold({ by: actor(principal), request });
    const id = placed.kind === "hold" ? placed.hold.id : "";
    const change = () =>
      what === "release"
        ? retention.releaseHold({ by: actor(principal), id })
        : retention.setPolicy({ by: actor(principal), request: { maximum_days: 400 } });
    setConflicts(3);
    expect((await change()).kind).toBe("changed_meanwhile");
    setConflicts(2);
    expect(["hold", "policy"]).toContain((await change()).kind);
  },
);

test("a change is never answered as done if the store did not write it", async () => {
  const { retention, setAnswer } = createMemory();
  setAnswer({ kind: "unavailable", detail: "away" });
  expect((await retention.placeHold({ by: actor(principal), request })).kind).toBe("unavailable");
  expect((await retention.setPolicy({ by: actor(principal), request: { maximum_days: 400 } })).kind).toBe(
    "unavailable",
  );
});
