/**
 * Every number that bounds something in the SDK, with its unit in the name and its reason beside it. The SDK has its own, so that nothing of the
 * server comes with it; `test/sdk/limits.test.ts` holds those that both must know against the server's.
 */
const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** What the service takes: one event in bytes of UTF-8, its nesting, and the events of one batch. */
export const EVENT_BYTES_MAX = 256 * KIB;
export const EVENT_DEPTH_MAX = 64;
export const BATCH_EVENTS_MAX = 1000;

/** A batch is sent when it has so many events or bytes, or when its first event has waited so long. */
export const BATCH_EVENTS_DEFAULT = 500;
export const BATCH_BYTES_DEFAULT = 1 * MIB;
/** Half of what the service takes, so that the brackets, commas and one more event always fit. */
export const BATCH_BYTES_MAX = 8 * MIB;
export const FLUSH_INTERVAL_MS_DEFAULT = 1 * SECOND_MS;
/** A body below this is sent as it is: compressing saves less than a packet. */
export const GZIP_BYTES_MIN = 1 * KIB;

/** One request, from the first byte sent to the last byte read. Above the 8 s after which the service itself answers 503. */
export const REQUEST_TIMEOUT_MS_DEFAULT = 15 * SECOND_MS;
/** Longest answer that is read: a batch whose 1000 events have 50 problems each stays below. */
export const ANSWER_BYTES_MAX = 32 * MIB;

/** Warnings read from one answer, as many as the service lists, and the characters of each of their texts. */
export const WARNINGS_MAX = 50;
export const WARNING_CHARACTERS_MAX = 500;

/** Full jitter: a retry waits a random part of base × 2ⁿ, at most the cap, so that clients do not come back in step. */
export const RETRY_BASE_MS = 500;
export const RETRY_CAP_MS = 1 * MINUTE_MS;
/** The same where the key or the address is wrong: only a person mends that. */
export const REFUSED_RETRY_CAP_MS = 5 * MINUTE_MS;
/**
 * Requests in a row without an answer after which it is asked whether the service answers one without events. Before, it is most likely away: their waits
 * are some four seconds together.
 */
export const UNANSWERED_MIN = 5;
/**
 * How often in a row one event alone has no answer, right after a request without events had one, before it stands aside for minutes. Where three requests in
 * ten fail by chance one such time would put aside one event in sixteen, three one in three thousand.
 */
export const UNANSWERED_ALONE_MIN = 3;
/** Between these requests. By then a connection that broke off is closed on Node too, and keeps no program any more (not so after 1 ms, measured). */
export const UNANSWERED_PAUSE_MS = 20;
/** Longest `Retry-After` that is obeyed; a longer one is asked again after this time. */
export const RETRY_AFTER_MS_MAX = 60 * MINUTE_MS;

/**
 * An attempt of unknown outcome that began longer ago than this is sent with `resent=true`: the service then looks the event up, because the broker
 * remembers it for ten minutes only. Half of that, so that a slow request and an uneven clock do not matter.
 */
export const RESENT_AFTER_MS = 5 * MINUTE_MS;
/** By how much the wall clock may lag behind the steady one without having been set back: a clock that is slewed loses half a millisecond a second. */
export const CLOCK_DRIFT_MS = 1 * SECOND_MS;

/** The outbox as a whole, in bytes of files. At 500 bytes an event this is half a million events. */
export const OUTBOX_BYTES_DEFAULT = 256 * MIB;
/** An outbox without a folder, and what is held while a folder cannot be written to. */
export const MEMORY_OUTBOX_BYTES_DEFAULT = 16 * MIB;
export const OVERFLOW_BYTES_MAX = 4 * MIB;
/** A file of the outbox is closed at this size; it is deleted when all of its events are settled. */
export const SEGMENT_BYTES_MAX = 4 * MIB;
/** Changes between the two files that are written to, kept in memory for the order of what waits: 2 MiB. With more, the file that is synced is written to as well. */
export const RUNS_MAX = 16 * 1024;
export const SYNC_INTERVAL_MS = 1 * SECOND_MS;
/** Rejected events that are kept in the file of dead letters. */
export const DEAD_LETTER_BYTES_MAX = 64 * MIB;

/** A process says this often that it is alive. */
export const LEASE_RENEW_MS = 10 * SECOND_MS;
/** Silence after which a process whose life cannot be asked for (another machine or container) counts as dead. Six renewals. */
export const LEASE_STALE_MS = 60 * SECOND_MS;
/** How often a client looks for what processes that died have left. */
export const ADOPT_INTERVAL_MS = 30 * SECOND_MS;

export const HEARTBEAT_INTERVAL_MS_DEFAULT = 1 * MINUTE_MS;
/** The same problem is reported at most this often; the report says how often it came meanwhile. */
export const REPORT_INTERVAL_MS = 1 * MINUTE_MS;
/** How long `close()` and the end of the process wait for what is left. */
export const CLOSE_TIMEOUT_MS_DEFAULT = 5 * SECOND_MS;
/** How long `send()` tries. */
export const SEND_TIMEOUT_MS_DEFAULT = 30 * SECOND_MS;
/** Sandbox events taken in hand at once. They go one by one, and the limit there is 100 requests a minute. */
export const SANDBOX_BATCH_EVENTS = 20;
/** Name of a source, in characters: with the rest of its id it stays below what metadata values are searched by. */
export const SOURCE_CHARACTERS_MAX = 200;
/** A key for HMAC-SHA-256, in bytes: fewer could be tried out. */
export const HASH_KEY_BYTES_MIN = 16;
/** A request id that is taken for a correlation_id, in characters: what the service takes. */
export const CORRELATION_ID_CHARACTERS_MAX = 256;
