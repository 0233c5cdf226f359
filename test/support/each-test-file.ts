/**
 * Loaded before all tests (bunfig.toml), so that plain `bun test` has the same limit as the scripts. Bun forgets a default limit after each file, and
 * bunfig.toml cannot set one (oven-sh/bun#7789): it is set whenever a test file is looked up.
 */
import { setDefaultTimeout } from "bun:test";
import { plugin } from "bun";
import { TEST_MS_MAX } from "./time-limits.ts";

plugin({
  name: "limit of each test",
  setup: (build) => {
    build.onResolve({ filter: /\.(test|slow|suite)\.ts$/ }, () => {
      setDefaultTimeout(TEST_MS_MAX);
      return undefined;
    });
  },
});
