/** What stands beside a decision: events about the same asset and person that no rule links to a decision (DOMAIN 2b), and notices that rule 3 links to it. */

import { eventFacts, readEvent } from "../../event/facts.ts";
import { timeKey } from "../../event/formats.ts";
import { caseOf, type Decision, isShownBefore, type Unlinked, unlinkedIn } from "../../law/cases/case.ts";
import { type Fact, factOf, inOrder, isNamelessNotice, type LinkKind } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { searchEvents } from "../events/queries.ts";
import { BESIDE_CASES_MAX, BESIDE_EVENTS_MAX, BESIDE_EVENTS_PER_PAGE } from "../kit/limits.ts";
import { type Row, rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import { type FoundCase, findCase } from "./queries.ts";

type Views = Pick<ViewStore, "select" | "load">;

export interface BesideDecision {
  readonly unlinked: readonly Unlinked[];
  /** Notices without a name, shown before the decision, beside the first one, which is among its facts. */
  readonly notices: readonly Fact[];
}

export const findBeside = async (
  views: Views,
  tenant: string,
  parts: {
    readonly found: FoundCase;
    readonly decision: Decision;
    readonly row: Row;
    readonly rules: Rules;
  },
): Promise<BesideDecision> => {
  const { found, decision, row, rules } = parts;
  const { asset_id: assetId, subject_hash: subjectHash } = row;
  const isAlike = ({ asset, subject }: Fact): boolean => asset === assetId && subject === subjectHash;
  const isCandidate = ({ candidates }: Unlinked): boolean =>
    candidates.some(({ kind, id }) => kind === "decision" && id === decision.id);
  const unlinked = unlinkedIn(found.is).filter((each) => isCandidate(each) || isAlike(each.fact));
  const notices: Fact[] = [];
  if (typeof subjectHash === "string") {
    const known = new Set(found.is.facts.map(({ id }) => id));
    const unlinkedOf = unlinkedElsewhere(views, tenant, rules);
    for await (const fact of newestFacts(views, tenant, { assetId: rowText(row, "asset_id"), subjectHash })) {
      if (known.has(fact.id)) continue;
      if (isNamelessNotice(fact) && isShownBefore(fact, decision.made)) notices.push(fact);
      else unlinked.push(...(await unlinkedOf(fact)));
    }
  }
  return { unlinked: unlinked.sort((one, other) => inOrder(one.fact, other.fact)), notices };
};

async function* newestFacts(
  views: Views,
  tenant: string,
  about: { readonly assetId: string; readonly subjectHash: string },
): AsyncGenerator<Fact> {
  const filter = { ...about, timeField: "timestamp", order: "desc", limit: BESIDE_EVENTS_PER_PAGE } as const;
  let cursor: string | undefined;
  for (let seen = 0; seen < BESIDE_EVENTS_MAX; seen += BESIDE_EVENTS_PER_PAGE) {
    const found = await searchEvents(views, tenant, { ...filter, cursor });
    if (found.kind !== "page") return;
    for (const { eventText, sequence, receivedAt } of found.rows) {
      const known = eventFacts(readEvent(eventText));
      if (known) yield factOf(known, sequence, timeKey(receivedAt));
    }
    if (found.nextCursor === null) return;
    cursor = found.nextCursor;
  }
}

const NONE: readonly Unlinked[] = [];

/** An event that names nothing is its own case. Of another one its case tells, each looked at once. */
const unlinkedElsewhere = (views: Views, tenant: string, rules: Rules) => {
  const cases = new Map<string, readonly Unlinked[]>();
  return async (fact: Fact): Promise<readonly Unlinked[]> => {
    const { decision, objection, correlation } = fact.links;
    if (decision !== undefined) return NONE;
    const value = objection ?? correlation;
    if (value === undefined) return unlinkedIn(caseOf([fact]));
    const kind: LinkKind = objection === undefined ? "correlation" : "objection";
    const name = `${kind}:${value}`;
    if (!cases.has(name)) {
      if (cases.size === BESIDE_CASES_MAX) return NONE;
      const found = await findCase(views, tenant, { kind, value, rules });
      cases.set(name, found ? unlinkedIn(found.is) : NONE);
    }
    return cases.get(name)?.filter(({ fact: { id } }) => id === fact.id) ?? NONE;
  };
};
