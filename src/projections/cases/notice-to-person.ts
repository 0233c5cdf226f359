/**
 * A notice that names neither a decision nor a correlation still tells the person something: the last one about this asset to the same person, no later than
 * the decision. It is shown apart, because nothing in it says that it is about this decision.
 */
import { type Fact, factOf, inOrder, NOTICE_TYPES } from "../../cases/fact.ts";
import { eventFacts } from "../../event/facts.ts";
import { timeKey, WHOLE_SECONDS } from "../../event/formats.ts";
import { readEvent } from "../../event/read-event.ts";
import { type Row, rowText } from "../../views/tables.ts";
import type { ViewStore } from "../../views/view-store.ts";
import { type EventFilter, type StoredEvent, searchEvents } from "../events/queries.ts";
import { NOTICES_LOOKED_AT_MAX, NOTICES_PER_PAGE } from "../limits.ts";

/** Columns of a decision in the register. */
export const findNoticeToPerson = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  decision: Row,
): Promise<Fact | undefined> => {
  const { made_at: madeAt, subject_hash: subjectHash } = decision;
  if (typeof madeAt !== "string" || typeof subjectHash !== "string") return undefined;
  let last: Fact | undefined;
  for (const eventType of NOTICE_TYPES) {
    const filter: EventFilter = {
      assetId: rowText(decision, "asset_id"),
      subjectHash,
      eventType,
      timeField: "timestamp",
      to: `${madeAt.slice(0, WHOLE_SECONDS)}.999999999Z`,
      order: "desc",
    };
    for await (const event of newestEvents(views, tenant, filter)) {
      const notice = namelessFact(event);
      if (notice === undefined || notice.at > madeAt) continue;
      if (last === undefined || inOrder(last, notice) < 0) last = notice;
    }
  }
  return last;
};

/** The steps that the log does not hold, when such a notice counts as well. */
export const missingBeside = (noticeToPerson: Fact | undefined, missing: unknown): readonly unknown[] => {
  const steps: readonly unknown[] = Array.isArray(missing) ? missing : [];
  return noticeToPerson ? steps.filter((step) => step !== "notice") : steps;
};

/** They come in the order of arrival, which does not say when a notice was shown. So all are looked at, up to a bound. */
async function* newestEvents(
  views: Pick<ViewStore, "select">,
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

/** Undefined if the notice says what it is about. */
const namelessFact = ({ eventText, sequence, receivedAt }: StoredEvent): Fact | undefined => {
  const known = eventFacts(readEvent(eventText));
  const fact = known && factOf(known, sequence, timeKey(receivedAt));
  return fact && Object.keys(fact.links).length === 0 ? fact : undefined;
};
