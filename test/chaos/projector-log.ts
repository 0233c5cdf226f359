import type { StoredMessage } from "../../src/log/event-log.ts";
import { messageOf } from "../projections/records.ts";
import { asTheyArrive } from "../support/histories/chance.ts";
import { makeHistory } from "../support/histories.ts";

export interface ProjectorLog {
  readonly seed: number;
  /** Of each of eight assets; some five events each. */
  readonly cases: number;
}

/** The same log in every process that is given the same. */
export const messagesOf = ({ seed, cases }: ProjectorLog): readonly StoredMessage[] => {
  const { events } = makeHistory({ seed, assets: 8, cases });
  return asTheyArrive(events, seed).map((event, index) => messageOf(index + 1, { event }));
};
