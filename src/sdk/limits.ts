/** Every number that bounds something in the SDK. `test/sdk/limits.test.ts` holds those that the server knows too against the server's. */
const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** What the service accepts: bytes (UTF-8) and nesting of one event, and events of one batch. */
export const EVENT_BYTES_MAX = 256 * KIB;
export const EVENT_DEPTH_MAX = 64;
export const BATCH_EVENTS_MAX = 1000;

/** A batch is sent when it has this many events or bytes, or when its first event has waited this long. */
export const BATCH_EVENTS_DEFAULT = 500;
export const BATCH_BYTES_DEFAULT = 1 * MIB;
/** Half of what the service accepts, so that brackets, commas and one more event always fit. */
export const BATCH_BYTES_MAX = 8 * MIB;
export const FLUSH_INTERVAL_MS_DEFAULT = 1 * SECOND_MS;
/** A smaller body is sent uncompressed: compression would save less than one packet. */
export const GZIP_BYTES_MIN = 1 * KIB;

/** Timeout of one request, from the first byte sent to the last byte read. Above the 8 s after which the service itself answers 503. */
export const REQUEST_TIMEOUT_MS_DEFAULT = 15 * SECOND_MS;
/** The longest answer that is read. The answer to a batch whose 1000 events have 50 problems each is shorter. */
export const ANSWER_BYTES_MAX = 32 * MIB;

/** Warnings read from one answer (the service lists no more), and characters of each of their texts. */
export const WARNINGS_MAX = 50;
export const WARNING_CHARACTERS_MAX = 500;

/** Full jitter: a retry waits a random part of base × 2ⁿ, at most the cap, so that clients do not retry in step. */
export const RETRY_BASE_MS = 500;
export const RETRY_CAP_MS = 1 * MINUTE_MS;
/** The cap if the key or the address is wrong: only a person can correct that. */
export const REFUSED_RETRY_CAP_MS = 5 * MINUTE_MS;
/** The longest `Retry-After` that is obeyed; with a longer one the next attempt comes after this time. */
export const RETRY_AFTER_MS_MAX = 60 * MINUTE_MS;

/** From then on an event is sent with `resent=true`, and the service looks it up: half of the ten minutes for which the broker remembers ids. */
export const RESENT_AFTER_MS = 5 * MINUTE_MS;
/** How far the wall clock may fall behind the steady clock without counting as set back. */
export const CLOCK_DRIFT_MS = 1 * SECOND_MS;

/** Limit of the whole outbox, in bytes of events. With events of 500 bytes that is half a million events. */
export const OUTBOX_BYTES_DEFAULT = 256 * MIB;
/** Limits of an outbox in memory, and of what is held in memory while a folder cannot be written to. */
export const MEMORY_OUTBOX_BYTES_DEFAULT = 16 * MIB;
export const OVERFLOW_BYTES_MAX = 4 * MIB;
/** The log of writes of an outbox file is copied into the file, which takes some milliseconds, after this many pages of 4 KiB at the latest. */
export const WAL_PAGES_MAX = 16_384;
export const SYNC_INTERVAL_MS = 1 * SECOND_MS;
/** Rejected events kept in one outbox file. */
export const DEAD_LETTER_BYTES_MAX = 64 * MIB;

/** How often a client looks for files of dead processes. */
export const TAKE_OVER_INTERVAL_MS = 30 * SECOND_MS;

export const HEARTBEAT_INTERVAL_MS_DEFAULT = 1 * MINUTE_MS;
/** The same problem is reported at most this often; the report says how often it occurred meanwhile. */
export const REPORT_INTERVAL_MS = 1 * MINUTE_MS;
/** How long `close()` and the end of the process wait for pending events. */
export const CLOSE_TIMEOUT_MS_DEFAULT = 5 * SECOND_MS;
/** How long `send()` keeps trying. */
export const SEND_TIMEOUT_MS_DEFAULT = 30 * SECOND_MS;
/** With the rest of its id a source name stays below the length up to which metadata values are searchable. */
export const SOURCE_CHARACTERS_MAX = 200;
/** Length of a key for HMAC-SHA-256, in bytes: a shorter key could be guessed. */
export const HASH_KEY_BYTES_MIN = 16;
/** Length of a request id that is used as a correlation_id, in characters: the limit of the service. */
export const CORRELATION_ID_CHARACTERS_MAX = 256;
