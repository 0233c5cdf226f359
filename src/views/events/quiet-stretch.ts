/** Whether a stretch of the log contains nothing of a tenant: one query for all who follow its events, instead of one for each. */

import { VIEW_LOOK_MS_MAX } from "../kit/limits.ts";
import type { ViewStore } from "../store/view-store.ts";
import { rowsInStretch, type Stretch } from "./stretch.ts";

export interface QuietStretches {
  /** Also false if it is not known. */
  isQuiet(tenant: string, stretch: Stretch): Promise<boolean>;
}

export const createQuietStretches = (
  views: Pick<ViewStore, "select" | "position" | "load">,
): QuietStretches => {
  /** Queries in progress. A result is not kept, because a replayed dead letter puts an event where there was none. */
  const asking = new Map<string, Stretch & { readonly answer: Promise<boolean> }>();

  const look = async (tenant: string, { after, upTo }: Stretch): Promise<boolean> => {
    const conditions = { timeField: "timestamp" } as const;
    const found = await rowsInStretch(views, tenant, { conditions, after, upTo, rowsMax: 1 });
    return found?.rows.length === 0;
  };

  return {
    isQuiet: (tenant, { after, upTo }) => {
      const other = asking.get(tenant);
      if (other && other.after <= after && upTo <= other.upTo) return other.answer;
      const question = { after, upTo, answer: inTime(look(tenant, { after, upTo })) };
      asking.set(tenant, question);
      void question.answer.then(() => {
        if (asking.get(tenant) === question) asking.delete(tenant);
      });
      return question.answer;
    },
  };
};

/** Also false if the query fails or is late: one of several connections to a database may have broken, and then each follower looks for itself. */
const inTime = (answer: Promise<boolean>): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const isUnknown = (): void => resolve(false);
  const timer = setTimeout(isUnknown, VIEW_LOOK_MS_MAX);
  answer.then(resolve, isUnknown).finally(() => clearTimeout(timer));
  return promise;
};
