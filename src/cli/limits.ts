/** Limits of the command line in one place, like those of the service (../limits.ts). */
import { strict as assert } from "node:assert";
import { BATCH_BODY_BYTES_MAX, EVENT_BYTES_MAX, STREAM_KEEP_ALIVE_MS } from "../limits.ts";

const SECOND_MS = 1000;
const KIB = 1024;
const MIB = 1024 * KIB;

/** A quarter of what the service accepts, so that sending a batch again costs little. */
export const SEND_BATCH_CHARACTERS_MAX = 4 * MIB;
/** How far the input is read ahead. */
export const SEND_CHUNK_BYTES = 1 * MIB;
/** A longer line of NDJSON is refused without being held. */
export const SEND_LINE_BYTES_MAX = 1 * MIB;
export const SEND_RETRY_MS_DEFAULT = 10 * 60 * SECOND_MS;
/** Longest wait between two attempts, unless the service asks for more: a person is watching. */
export const CLI_RETRY_MS_MAX = 30 * SECOND_MS;
/** An answer to a simple request that has not begun by then is given up; a batch and an evidence bundle may take longer. */
export const CLI_ANSWER_MS_MAX = 30 * SECOND_MS;
export const CLI_LONG_ANSWER_MS_MAX = 2 * 60 * SECOND_MS;
/** A stream without a byte for three keep-alive intervals counts as dead. */
export const CLI_STREAM_QUIET_MS_MAX = 3 * STREAM_KEEP_ALIVE_MS;
/** How often progress is reported without a terminal. */
export const PROGRESS_LINE_MS = 5 * SECOND_MS;
export const KEY_ENDS_SOON_MS = 14 * 24 * 60 * 60 * SECOND_MS;

assert(SEND_LINE_BYTES_MAX >= EVENT_BYTES_MAX, "every event that is taken can be sent");
assert(
  3 * SEND_BATCH_CHARACTERS_MAX + SEND_LINE_BYTES_MAX < BATCH_BODY_BYTES_MAX,
  "a batch of ours is taken",
);
