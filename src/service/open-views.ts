/**
 * Opens the views at the start, so that their tables exist before the first query. Waits for their database as a start waits for a broker.
 */
import type { Rules } from "../law/obligations/obligation.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Projection } from "../views/kit/projection.ts";
import { projectionsWith } from "../views/registry.ts";
import { isAway } from "../views/store/unavailable.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import type { Config } from "./config.ts";
import { loadRules } from "./obligation-rules.ts";
import { connectViews, openToOthers, viewsRefused } from "./view-place.ts";
import { waitAtStart } from "./wait-at-start.ts";

interface OpenedViews {
  readonly views: ViewStore;
  readonly projections: readonly [Projection, ...Projection[]];
  readonly rules: Rules;
}

/** Throws RulesRefusedError, or ViewsRefusedError: at once if waiting cannot help, otherwise after START_WAIT_MS_MAX. */
export const openViews = async (parts: {
  readonly config: Config;
  readonly logger: Logger;
  readonly stack: AsyncDisposableStack;
}): Promise<OpenedViews> => {
  const { config, logger, stack } = parts;
  const { rules, version } = await loadRules(config);
  const projections = projectionsWith(rules, version);
  const views = stack.use(connectViews(config));
  const open = openToOthers(config);
  if (open) logger.warn("the file of the views is open to other users of this machine", { ...open });
  await waitAtStart({
    message: "waiting for the database of the views",
    logger,
    attempt: () => openAll(views, projections, logger),
    refusalOf: (thrown) => {
      const error = viewsRefused(thrown, config);
      // Any other error stays: waiting does not change tables.
      return isAway(thrown)
        ? { error, detail: `DATABASE_URL: ${thrown.message}`, isFinal: false }
        : { error, detail: error.message, isFinal: true };
    },
  });
  return { views, projections, rules };
};

const openAll = async (views: ViewStore, projections: readonly Projection[], logger: Logger) => {
  for (const projection of projections) {
    const opened = await views.open(projection);
    // Until it has caught up, reads are answered with 503.
    if (opened === "made_again") logger.warn(MADE_AGAIN, { projection: projection.name });
  }
};

const MADE_AGAIN =
  "a view is rebuilt from the log: its rows are of another version of Prooftrail, or follow other rules of obligations";
