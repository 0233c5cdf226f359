/** Parts that many tests use and that take a second of CPU or more to make, by the setting that names each one once it is made (test/with-shared-parts.ts). */
import { buildProgram, PROGRAM_SETTING } from "./built-program.ts";
import { DEMO_SETTING, makeDemoData } from "./demo-service.ts";
import type { LastingFolder } from "./lasting-folder.ts";
import { ownBrowser } from "./own-browser.ts";
import { BROWSER_SETTING, hasPackagedBrowser, unpackBrowser } from "./packaged-browser.ts";
import { CLUSTER_SETTING, makeCluster, noPostgresReason } from "./postgres-server.ts";

type Part = readonly [setting: string, make: () => Promise<LastingFolder>];

/** Leaves out parts that no test needs on this machine. */
export const sharedParts = (environment: NodeJS.ProcessEnv): readonly Part[] => {
  const own = ownBrowser(environment);
  const parts: [isNeeded: boolean, ...Part][] = [
    [true, PROGRAM_SETTING, buildProgram],
    [noPostgresReason === undefined, CLUSTER_SETTING, makeCluster],
    [hasPackagedBrowser && own === undefined, BROWSER_SETTING, unpackBrowser],
    [hasPackagedBrowser || own !== undefined, DEMO_SETTING, makeDemoData],
  ];
  return parts.flatMap(([isNeeded, ...part]) => (isNeeded ? [part] : []));
};
