import type { StoredMessage } from "../../src/log/event-log.ts";
import { messageOf } from "../projections/records.ts";
import { asTheyArrive } from "../support/histories/chance.ts";
import { makeHistory } from "../support/histories.ts";

export interface ProjectorLog {
  readonly seed: number;
  /** The number of cases of each of eight assets; a case has some five events. */
  readonly cases: number;
}

/** Every process with the same arguments gets the same log. */
export const messagesOf = ({ seed, cases }: ProjectorLog): readonly StoredMessage[] => {
  const { events } = makeHistory({ seed, assets: 8, cases });
  return asTheyArrive(events, seed).map((event, index) => messageOf(index + 1, { event }));
};
