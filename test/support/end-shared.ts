/**
 * Loaded before all tests (bunfig.toml): ends what they shared after the last file, or after each one where files run in several processes. Without it
 * a server would be ended by the end of the process, and its folder be gone a moment later.
 */
import { afterAll } from "bun:test";
import { endShared } from "./shared-by-tests.ts";

afterAll(endShared, 30_000);
