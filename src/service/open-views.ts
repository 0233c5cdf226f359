/**
 * Opens the views at the start, so that their tables exist before the first query. Waits for their database as a start waits for a broker.
 */
import type { Rules } from "../law/obligations/obligation.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Projection } from "../views/kit/projection.ts";
import { openView, type ViewReadiness } from "../views/kit/view-readiness.ts";
import { projectionsWith } from "../views/registry.ts";
import { isAway } from "../views/store/unavailable.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { waitAtStart } from "./background.ts";
import type { Config } from "./config.ts";
import { loadRules } from "./obligation-rules.ts";
import { connectViews, openToOthers, viewsRefused } from "./view-database.ts";

interface OpenedViews {
  readonly views: ViewStore;
  readonly projections: readonly [Projection, ...Projection[]];
  readonly rules: Rules;
  /** The versions of views whose rows are of another version, and are read until those of this version have caught up. */
  readonly older: ViewReadiness["older"];
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
  const older = new Map<string, number>();
  await waitAtStart({
    message: "waiting for the database of the views",
    logger,
    attempt: async () => {
      for (const projection of projections) {
        const { code, version } = await openView(views, projection);
        if (code === "older") older.set(projection.name, version);
        if (code === "older" || code === "made_again")
          logger.warn(REBUILT[code], { projection: projection.name });
      }
    },
    refusalOf: (thrown) => {
      const error = viewsRefused(thrown, config);
      // Any other error stays: waiting does not change tables.
      return isAway(thrown)
        ? { error, detail: `DATABASE_URL: ${thrown.message}`, isFinal: false }
        : { error, detail: error.message, isFinal: true };
    },
  });
  return { views, projections, rules, older };
};

const OTHER_ROWS = "its rows are of another version of Prooftrail, or follow other rules of obligations";
const REBUILT = {
  older: `a view is rebuilt from the log, and the old one is read meanwhile: ${OTHER_ROWS}`,
  made_again: `a view is rebuilt from the log, and answers 503 until it is complete: ${OTHER_ROWS}`,
};
