/** For comparing a live view of cases with one that was just made from the log, in which nothing has expired. */
import type { Rules } from "../../law/obligations/obligation.ts";
import { createKeyMap } from "../kit/key-map.ts";
import { type Row, rowText, type Table } from "../store/tables.ts";
import type { Snapshot, ViewDefinition, ViewStore, Write } from "../store/view-store.ts";
import { casesWith, markedNotice, withoutGone } from "./expiry.ts";
import {
  componentOf,
  eventNode,
  factsOf,
  type GoneFact,
  type Node,
  nodeFrom,
  nodeName,
  rowOf,
} from "./nodes.ts";
import { awaitedOf, PERSON_NOTICES, personFrom, personOf } from "./person-notices.ts";
import { loadNodes } from "./queries.ts";
import { registerChanges } from "./register-changes.ts";
import { CASE_NODES } from "./tables.ts";

interface Parts {
  readonly live: Snapshot;
  readonly made: Pick<ViewStore, "load" | "revise">;
  readonly rules: Rules;
  readonly revise: (writes: readonly Write[]) => Promise<void>;
}

export const expireCasesAlike = async (
  live: Snapshot,
  made: Parts["made"],
  { view, rules }: { readonly view: ViewDefinition; readonly rules: Rules },
): Promise<void> => {
  const revise = async (writes: readonly Write[]): Promise<void> => {
    if (writes.length > 0) await made.revise({ views: [view], expected: [], writes });
  };
  /** Rows of PERSON_NOTICES of which something has expired. */
  const persons = createKeyMap<Row>(PERSON_NOTICES, (key) => key);
  for await (const page of live.rows(CASE_NODES)) {
    for (const row of page) {
      if (row.gone === "[]") continue;
      const [tenant, start] = [rowText(row, "tenant"), rowText(row, "node")];
      const { cases } = await casesWith(made, tenant, [start]);
      for (const members of cases) {
        const names = [...members.nodes.keys()];
        const rows = await loadAll(live, CASE_NODES, tenant, names);
        const goneOf = new Map(
          rows.map((each) => [
            rowText(each, "node"),
            new Map(nodeFrom(each).gone.map((fact) => [fact.id, fact])),
          ]),
        );
        for (const [name, { facts }] of members.nodes)
          for (const fact of facts) {
            const person = goneOf.get(name)?.has(fact.id) ? personOf(fact) : undefined;
            if (person !== undefined) persons.reach({ tenant, person });
          }
        const known = (name: string): ReadonlyMap<string, GoneFact> => goneOf.get(name) ?? NONE_GONE;
        await revise(
          withoutGone({ tenant, members, rules, known }, (name, { id }) => known(name).get(id)?.with),
        );
      }
    }
  }
  for (const key of persons.all()) await makePersonAlike({ live, made, rules, revise }, key);
};

const NONE_GONE: ReadonlyMap<string, GoneFact> = new Map();

const loadAll = (views: Pick<ViewStore, "load">, table: Table, tenant: string, nodes: readonly string[]) =>
  views.load(
    table,
    nodes.map((node) => ({ tenant, node })),
  );

/** Another notice may have been the first one of a person when a decision was made, because earlier ones had expired. */
const makePersonAlike = async ({ live, made, rules, revise }: Parts, key: Row): Promise<void> => {
  const tenant = rowText(key, "tenant");
  const [row] = await live.load(PERSON_NOTICES, [key]);
  await revise([
    row
      ? { kind: "upsert", table: PERSON_NOTICES, row }
      : { kind: "delete", table: PERSON_NOTICES, key: { tenant, person: rowText(key, "person") } },
  ]);
  const person = personFrom(row);
  const isAwaiting = awaitedOf(person) !== undefined;
  const first = person.first ? [eventNode(person.first.id)] : [];
  for (const notice of await loadAll(made, CASE_NODES, tenant, first))
    await revise(markedNotice({ tenant, row: notice, isAwaiting, rules }));
  for (const id of person.decisions) {
    const name = nodeName("decision", id);
    const rows = await loadNodes(made, tenant, [name]);
    const [shown] = await loadAll(live, CASE_NODES, tenant, [name]);
    const before = (each: string): Node => nodeFrom(rows.get(each));
    const { borrowed } = nodeFrom(shown);
    const now = (each: string): Node => (each === name ? { ...before(each), borrowed } : before(each));
    const names = componentOf(name, before);
    await revise([
      { kind: "upsert", table: CASE_NODES, row: rowOf(tenant, name, now(name)) },
      ...registerChanges(tenant, { before: [factsOf(names, before)], now: [factsOf(names, now)] }, rules),
    ]);
  }
};
