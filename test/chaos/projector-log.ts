import type { StoredMessage } from "../../src/log/event-log.ts";
import { messageOf } from "../projections/records.ts";
import { asTheyArrive, makeHistory } from "../support/histories.ts";

/** The same log in every process that is given the seed. */
export const messagesOf = (seed: number): readonly StoredMessage[] => {
  const { events } = makeHistory({ seed, assets: 8, cases: 150 });
  return asTheyArrive(events, seed).map((event, index) => messageOf(index + 1, { event }));
};
