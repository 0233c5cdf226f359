/** What is asked of an obligation before it is waived. */

import { eventFacts } from "../../event/facts.ts";
import { timeKey } from "../../event/formats.ts";
import { readEvent } from "../../event/read-event.ts";
import { factOf } from "../../law/cases/fact.ts";
import { findEvent } from "../events/queries.ts";
import { type Row, rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import { nodesOf } from "./nodes.ts";
import { OBLIGATIONS } from "./registers/obligations.ts";

export const findObligation = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  obligationId: string,
): Promise<Row | undefined> => (await views.load(OBLIGATIONS, [{ tenant, obligation_id: obligationId }]))[0];

/** The name by which a waiver finds the case of the obligation: that of the event that started it. Undefined if that event has expired. */
export const caseNameOf = async (
  views: ViewStore,
  tenant: string,
  obligation: Row,
): Promise<string | undefined> => {
  const event = await findEvent(views, tenant, rowText(obligation, "started_by"));
  if (event?.kind !== "stored") return undefined;
  const facts = eventFacts(readEvent(event.eventText));
  return facts && nodesOf(factOf(facts, event.sequence, timeKey(event.receivedAt)))[0];
};
