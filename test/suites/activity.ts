/** The answers of activity, compared with counting the events one by one. Each database runs it (test/projections/activity.test.ts). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { activityProjection } from "../../src/views/activity/evolve.ts";
import { ACTIVITY_GROUPS, type ActivityQuestion, readActivity } from "../../src/views/activity/queries.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { applyBatch } from "../../src/views/kit/apply-batch.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { messageOf, simpleEvent } from "../projections/records.ts";
import type { ViewDatabase } from "./view-store.ts";

interface Counted {
  readonly start: string;
  readonly asset_id: string;
  readonly event_group: string;
  readonly event_type: string;
  readonly risk_tier: string;
}

const twoDigits = (count: number): string => String(count).padStart(2, "0");
const anyDay = fc.integer({ min: 18, max: 22 }).map((day) => `2026-11-${day}`);
const anyHour = fc
  .tuple(anyDay, fc.constantFrom(0, 1, 11, 22, 23))
  .map(([day, hour]) => `${day}T${twoDigits(hour)}`);
/** In the order of their bytes, which is not that of their UTF-16 units. */
const ASSETS = ["", "a", "b", "é", "\uff5e", "😀"];
const TYPES = [
  ["decision.made", "decision"],
  ["decision.withdrawn", "decision"],
  ["objection", "legacy"],
] as const;

const anyEvents = fc.array(
  fc
    .tuple(anyHour, fc.constantFrom(...ASSETS), fc.constantFrom(...TYPES), fc.constantFrom("", "high"))
    .map(([start, asset_id, [event_type, event_group], risk_tier]) => ({
      ...{ start, asset_id, event_group, event_type, risk_tier },
    })),
  { maxLength: 60 },
);

/** As the route asks: from a bucket, up to another one or including it. */
const anyQuestion: fc.Arbitrary<ActivityQuestion> = fc
  .record({
    bucket: fc.constantFrom("hour", "day"),
    groupBy: fc.subarray([...ACTIVITY_GROUPS], { minLength: 1 }),
    from: anyHour,
    to: anyHour,
    isWhole: fc.boolean(),
    assetIds: fc.option(fc.subarray(ASSETS, { minLength: 1 }), { nil: undefined }),
    eventTypes: fc.option(
      fc.subarray(
        TYPES.map(([type]) => type),
        { minLength: 1 },
      ),
      { nil: undefined },
    ),
    eventGroups: fc.option(fc.subarray(["decision", "legacy"], { minLength: 1 }), { nil: undefined }),
    rowsMax: fc.constantFrom(1, 3, 10, 1000),
  })
  .map(({ isWhole, ...question }) => {
    const characters = question.bucket === "hour" ? 13 : 10;
    const to = `${question.to.slice(0, characters)}${isWhole ? "" : "~"}`;
    return { ...question, from: question.from.slice(0, characters), to };
  });

const answerTo = (question: ActivityQuestion, events: readonly Counted[]) => {
  const { bucket, groupBy, from, to, assetIds, eventTypes, eventGroups, rowsMax } = question;
  const groups = new Map<string, number>();
  for (const event of events) {
    const counted = { ...event, start: bucket === "hour" ? event.start : event.start.slice(0, 10) };
    if (counted.start < from || counted.start >= to) continue;
    if (assetIds?.includes(event.asset_id) === false) continue;
    if (eventTypes?.includes(event.event_type) === false) continue;
    if (eventGroups?.includes(event.event_group) === false) continue;
    const name = JSON.stringify(groupBy.map((group) => counted[group]));
    groups.set(name, (groups.get(name) ?? 0) + 1);
  }
  const inOrder = [...groups].sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  if (inOrder.length > rowsMax) return undefined;
  return inOrder.map(([name, count]) => ({ group: JSON.parse(name), count }));
};

const VIEWS = [eventsProjection, activityProjection];

/** Group by group, so that counts are added to existing ones. */
const project = async (views: ViewStore, events: readonly Counted[]): Promise<void> => {
  for (const view of VIEWS) {
    await views.drop(view.name);
    await views.open(view);
  }
  for (let from = 0; from < events.length; ) {
    const messages = events.slice(from, from + 20).map((event, index) => {
      const { asset_id, event_type, risk_tier } = event;
      const said = { timestamp: `${event.start}:30:00Z`, asset_id, event_type };
      const tier = risk_tier === "" ? {} : { risk_tier };
      return messageOf(from + index + 1, { event: simpleEvent(`evt_${from + index}`, { ...said, ...tier }) });
    });
    const outcome = await applyBatch({ projections: VIEWS, messages, load: views.load, now: "" });
    expect(outcome.deadLetters).toEqual([]);
    const to = from + messages.length;
    expect(await views.commit({ views: VIEWS, from, to, ...outcome })).toEqual({ kind: "committed" });
    from = to;
  }
};

export const activitySuite = (name: string, create: () => Promise<ViewDatabase> | ViewDatabase): void =>
  test(`${name}: every answer of activity equals counting the events, in the order of the groups`, async () => {
    await using database = await create();
    await using views = database.connect();
    await fc.assert(
      fc.asyncProperty(
        anyEvents,
        fc.array(anyQuestion, { minLength: 40, maxLength: 40 }),
        async (events, questions) => {
          await project(views, events);
          for (const question of questions) {
            const rows = await readActivity(views, "acme", question);
            const found = rows?.map(({ events: count, ...row }) => ({
              group: question.groupBy.map((group) => row[group]),
              count,
            }));
            expect(found).toEqual(answerTo(question, events));
          }
          expect(await readActivity(views, "globex", { ...ALL, assetIds: ["a"] })).toEqual([]);
          expect(await readActivity(views, "globex", ALL)).toEqual([]);
        },
      ),
      { numRuns: 20 },
    );
  });

const ALL = { bucket: "day", groupBy: ["start"], from: "2026", to: "2027", rowsMax: 10 } as const;
