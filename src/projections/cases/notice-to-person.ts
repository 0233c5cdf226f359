/**
 * A notice that names neither decision nor correlation still tells the person: the last one about this asset to the same person until the decision. It is
 * shown apart, because nothing in it says that it is about this decision.
 */
import { type Decision, NOTICE_TYPES } from "../../cases/case.ts";
import { type Fact, factOf, inOrder } from "../../cases/fact.ts";
import { eventFacts } from "../../event/facts.ts";
import { WHOLE_SECONDS } from "../../event/formats.ts";
import { readEvent } from "../../event/read-event.ts";
import { NOTICES_LOOKED_AT_MAX, NOTICES_PER_PAGE } from "../../limits.ts";
import type { ViewStore } from "../../views/view-store.ts";
import { type EventFilter, type StoredEvent, searchEvents } from "../events/queries.ts";

export const findNoticeToPerson = async (
  views: ViewStore,
  tenant: string,
  { made, facts }: Decision,
): Promise<Fact | undefined> => {
  const subject = made?.subject ?? facts.find(({ subject: known }) => known !== undefined)?.subject;
  if (!made || subject === undefined) return undefined;
  let last: Fact | undefined;
  for (const eventType of NOTICE_TYPES) {
    const filter: EventFilter = {
      assetId: made.asset,
      subjectHash: subject,
      eventType,
      timeField: "timestamp",
      to: `${made.at.slice(0, WHOLE_SECONDS)}.999999999Z`,
      order: "desc",
    };
    for await (const event of newestEvents(views, tenant, filter)) {
      const notice = namelessFact(event);
      if (notice === undefined || notice.at > made.at) continue;
      if (last === undefined || inOrder(last, notice) < 0) last = notice;
    }
  }
  return last;
};

/** They come by the order of arrival, which says nothing of when a notice was shown: so all are looked at, up to a bound. */
async function* newestEvents(
  views: ViewStore,
  tenant: string,
  filter: EventFilter,
): AsyncGenerator<StoredEvent> {
  let cursor: string | undefined;
  for (let seen = 0; seen < NOTICES_LOOKED_AT_MAX; seen += NOTICES_PER_PAGE) {
    const found = await searchEvents(views, tenant, { ...filter, limit: NOTICES_PER_PAGE, cursor });
    if (found.kind !== "page") return;
    yield* found.rows;
    if (found.nextCursor === null) return;
    cursor = found.nextCursor;
  }
}

/** Undefined for one that says what it is about. */
const namelessFact = ({ eventText, sequence }: StoredEvent): Fact | undefined => {
  const known = eventFacts(readEvent(eventText));
  const fact = known && factOf(known, sequence);
  return fact && Object.keys(fact.links).length === 0 ? fact : undefined;
};
