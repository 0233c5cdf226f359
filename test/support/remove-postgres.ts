/**
 * Loaded before all tests (bunfig.toml): ends the server that they shared after the last file, or after each one where files run in several
 * processes. Without it the server would be ended by the end of the process, and its folder be gone a moment later.
 */
import { afterAll } from "bun:test";
import { removeTestPostgres } from "./postgres.ts";

afterAll(removeTestPostgres, 30_000);
