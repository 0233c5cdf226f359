/** Limits of the command line, in one place as those of the service (../limits.ts). */
import { strict as assert } from "node:assert";
import { BATCH_BODY_BYTES_MAX, EVENT_BYTES_MAX, STREAM_KEEP_ALIVE_MS } from "../limits.ts";

const SECOND_MS = 1000;
const KIB = 1024;
const MIB = 1024 * KIB;

/** Events that `prooftrail send` puts into one batch, in characters: a quarter of what is taken, so that one that has to be sent again costs little. */
export const SEND_BATCH_CHARACTERS_MAX = 4 * MIB;
/** Input that comes slowly is sent after this long, though the batch is not full. */
export const SEND_LINGER_MS = 250;
/** A pretty-printed event may have so many bytes with its white space; a longer line of NDJSON is refused without being held. */
export const SEND_LINE_BYTES_MAX = 1 * MIB;
/** How long `prooftrail send` tries again unless told. */
export const SEND_RETRY_MS_DEFAULT = 10 * 60 * SECOND_MS;
/** Longest wait between two tries of the command line, beside what the service asks for: a person looks on. */
export const CLI_RETRY_MS_MAX = 30 * SECOND_MS;
/** An answer to a plain question that has not begun by then is given up; a batch and an evidence bundle may take longer. */
export const CLI_ANSWER_MS_MAX = 30 * SECOND_MS;
export const CLI_LONG_ANSWER_MS_MAX = 2 * 60 * SECOND_MS;
/** A stream that is quiet for three keep-alives is taken for dead. */
export const CLI_STREAM_QUIET_MS_MAX = 3 * STREAM_KEEP_ALIVE_MS;
/** What the input of a resumed import is known by: its first bytes, hashed. */
export const RESUME_FINGERPRINT_BYTES = 64 * KIB;
/** How often progress is told where there is no terminal. */
export const PROGRESS_LINE_MS = 5 * SECOND_MS;
/** How often `prooftrail doctor` asks a question that the limit of the key refuses: also a limit of one request per second has room for all of them. */
export const DOCTOR_TRIES_MAX = 4;
/** A key that ends so soon is told of. */
export const KEY_ENDS_SOON_MS = 14 * 24 * 60 * 60 * SECOND_MS;

assert(SEND_LINE_BYTES_MAX >= EVENT_BYTES_MAX, "every event that is taken can be sent");
assert(
  3 * SEND_BATCH_CHARACTERS_MAX + SEND_LINE_BYTES_MAX < BATCH_BODY_BYTES_MAX,
  "a batch of ours is taken",
);
