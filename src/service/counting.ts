/** Counts the obligations by state again and again, for a metric. */
import { COUNT_OBLIGATIONS_MS } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { countObligations } from "../views/announcements/counts.ts";
import { lookAgain } from "../views/kit/look-again.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { inBackground, pause } from "./background.ts";

export const startCounting = (dependencies: {
  readonly views: ViewStore;
  readonly metrics: Pick<Metrics, "watch">;
  readonly logger: Logger;
  readonly now: () => Date;
}): AsyncDisposable => {
  const { views, metrics, logger, now } = dependencies;
  let counted: Awaited<ReturnType<typeof countObligations>>;
  metrics.watch.obligations(
    async () => counted && [...counted].map(([state, value]) => ({ labels: { state }, value })),
  );
  return inBackground((signal) =>
    lookAgain({
      look: async () => {
        counted = (await countObligations({ views, now, pause, signal })) ?? counted;
      },
      onFailed: (error) => logger.debug("obligations were not counted", { detail: String(error) }),
      restMs: COUNT_OBLIGATIONS_MS,
      pause,
      signal,
    }),
  );
};
