/** Whether a stretch of the log holds nothing of a tenant: of all who follow its events one asks, and not each for itself. */
import type { ViewStore } from "../../views/view-store.ts";
import { VIEW_LOOK_MS_MAX } from "../limits.ts";
import { rowsInStretch, type Stretch } from "./stretch.ts";

export interface QuietStretches {
  /** False also where nobody knows. */
  isQuiet(tenant: string, stretch: Stretch): Promise<boolean>;
}

export const createQuietStretches = (
  views: Pick<ViewStore, "select" | "position" | "load">,
): QuietStretches => {
  /** Questions on their way. An answer is not kept: a dead letter that is replayed puts an event where there was none. */
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

/** False also where it fails or is late: of several connections to a database one may have gone, and each looks for itself then. */
const inTime = (answer: Promise<boolean>): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const isUnknown = (): void => resolve(false);
  const timer = setTimeout(isUnknown, VIEW_LOOK_MS_MAX);
  answer.then(resolve, isUnknown).finally(() => clearTimeout(timer));
  return promise;
};
