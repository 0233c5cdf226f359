/** Expires a case of the given number of events in this folder, and prints how many nodes it had and how many of them lost their facts. */
import { join } from "node:path";
import process from "node:process";
import type { Fact } from "../../src/law/cases/fact.ts";
import { STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { casesProjection } from "../../src/views/cases/evolve.ts";
import { casesExpiring } from "../../src/views/cases/expiry.ts";
import { EMPTY, type Node, nodesOf, rowOf, withFact, withNeighbour } from "../../src/views/cases/nodes.ts";
import { CASE_NODES } from "../../src/views/cases/tables.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import type { Write } from "../../src/views/store/view-store.ts";

const count = Number(process.argv[2]);
const EVENTS_PER_DECISION = 200;

const factAt = (index: number): Fact => ({
  at: new Date(Date.UTC(2027, 0, 1) + index * 1000).toISOString().slice(0, -1),
  id: `evt_${index}`,
  sequence: index + 1,
  recorded: "2026-12-01T00:00:00",
  type: "decision.explanation_provided",
  asset: "a",
  links: {
    decision: `d${Math.floor(index / EVENTS_PER_DECISION)}`,
    correlation: `c${Math.ceil(index / EVENTS_PER_DECISION)}`,
  },
  says: {},
});

const nodes = new Map<string, Node>();
const nodeAt = (name: string): Node => nodes.get(name) ?? EMPTY;
for (let index = 0; index < count; index++) {
  const fact = factAt(index);
  const [home = "", beside = ""] = nodesOf(fact);
  nodes.set(home, withNeighbour(withFact(nodeAt(home), fact), beside));
  nodes.set(beside, withNeighbour(nodeAt(beside), home));
}

const views = createSqliteViews({ path: join(process.cwd(), "views.sqlite") });
const cases = casesProjection(STANDARD_RULES, 0);
for (const view of [eventsProjection, cases]) await views.open(view);
const writes = [...nodes].map(
  ([name, node]): Write => ({ kind: "upsert", table: CASE_NODES, row: rowOf("acme", name, node) }),
);
await views.commit({ views: [cases], from: 0, to: count, writes, deadLetters: [], expected: [] });

const homes = [...nodes].filter(([, { facts }]) => facts.length > 0);
const events = new Map(homes.map(([name, { facts }]) => [name, new Set(facts.map(({ id }) => id))]));
const expired = await casesExpiring(views, {
  tenant: "acme",
  events,
  rules: STANDARD_RULES,
  isHeld: () => false,
});
await views[Symbol.asyncDispose]();
const reduced = expired.writes.filter((write) => "row" in write && write.table === CASE_NODES);
process.stdout.write(JSON.stringify({ nodes: nodes.size, reduced: reduced.length }));
