import { expect, test } from "bun:test";
import fc from "fast-check";
import { caseOf } from "./case.ts";
import type { Fact } from "./fact.ts";
import { type MeantBefore, meantBy, openedIn } from "./meant-by.ts";
import { likest } from "./persons.ts";

/** The definition, word for word, with a list for each step. */
const meantAsSaid = (
  fact: Fact,
  opened: ReadonlyMap<string, Fact>,
  before: MeantBefore,
): string | undefined => {
  const found = sharingMost(fact, opened, before);
  const isOpened = found !== undefined && (opened.get(found)?.at ?? "") <= fact.at;
  const earlier = isOpened ? undefined : sharingMost(fact, opened, { ...before, isUntilThen: true });
  return earlier !== undefined && !before.said?.has(earlier) ? earlier : found;
};

const sharingMost = (
  fact: Fact,
  opened: ReadonlyMap<string, Fact>,
  { closed = new Set(), said = new Set(), isOther, isUntilThen = false }: MeantBefore,
): string | undefined => {
  const { decision, correlation } = fact.links;
  const candidates = [...opened].filter(([, each]) => {
    if (isUntilThen && each.at > fact.at) return false;
    if (decision === undefined || each.links.decision === undefined) return !isOther?.(fact)(each);
    return each.links.decision === decision;
  });
  const sharing = (kind: "decision" | "correlation", name: string | undefined) =>
    name === undefined ? [] : candidates.filter(([, each]) => each.links[kind] === name);
  const near = [sharing("decision", decision), sharing("correlation", correlation), candidates].find(
    ({ length }) => length > 0,
  );
  const alike = near && likest(fact, near, ([, each]) => each);
  const before = alike?.filter(([, each]) => each.at <= fact.at);
  const open = before?.filter(([id]) => !closed.has(id));
  return (open?.findLast(([id]) => !said.has(id)) ?? open?.at(-1) ?? before?.at(-1) ?? alike?.[0])?.[0];
};

const name = (...names: readonly string[]) => fc.option(fc.constantFrom(...names), { nil: undefined });
const anyFact = fc
  .record({
    second: fc.nat({ max: 4 }),
    asset: fc.constantFrom("a", "b"),
    subject: name("p", "q"),
    correlation: name("c", "e"),
    decision: name("d", "f"),
  })
  .map(
    ({ second, asset, subject, correlation, decision }): Fact => ({
      at: `2026-11-20T10:00:0${second}`,
      id: "evt",
      sequence: 1,
      recorded: "2026-12-01T00:00:00",
      type: "objection.received",
      asset,
      ...(subject !== undefined && { subject }),
      links: {
        ...(correlation !== undefined && { correlation }),
        ...(decision !== undefined && { decision }),
      },
      says: {},
    }),
  );
const IDS = ["0", "1", "2", "3", "4", "5"];
const anyIds = fc.subarray(IDS).map((ids) => new Set(ids));

test("one pass finds the same as the definition step by step", () => {
  const known = { closed: anyIds, said: anyIds, isUntilThen: fc.boolean(), hasOthers: fc.boolean() };
  fc.assert(
    fc.property(
      anyFact,
      fc.array(anyFact, { maxLength: IDS.length }),
      fc.record(known),
      (fact, some, { hasOthers, ...before }) => {
        const inOrder = some.toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
        const opened = new Map(inOrder.map((each, index) => [String(index), each]));
        const isOther =
          ({ subject }: Fact) =>
          (each: Fact) =>
            hasOthers && each.subject !== subject;
        const asked = { ...before, isOther };
        expect(meantBy(fact, openedIn(opened), asked)).toBe(meantAsSaid(fact, opened, asked));
      },
    ),
    { numRuns: 5000 },
  );
});

test("a case with as many events as its names may hold is worked out, and each answer belongs to the notice before it", () => {
  const [decisions, each] = [120, 256];
  const facts = Array.from({ length: decisions * each }, (_, index): Fact => {
    const isShown = Math.floor(index / decisions) % 2 === 0;
    return {
      at: new Date(Date.UTC(2026, 10, 20) + index * 1000).toISOString().slice(0, -1),
      id: `evt_${String(index).padStart(6, "0")}`,
      sequence: index + 1,
      recorded: "2026-12-01T00:00:00",
      type: isShown ? "transparency.notice_shown" : "transparency.notice_dismissed",
      asset: "credit_model",
      links: { correlation: "run", decision: `dec_${index % decisions}` },
      says: {},
    };
  });
  const { notices } = caseOf(facts);
  expect(notices).toHaveLength((decisions * each) / 2);
  for (const { shown, dismissed } of notices)
    expect(dismissed?.sequence).toBe((shown?.sequence ?? 0) + decisions);
  // This took 23 s with a list for each pair.
});
