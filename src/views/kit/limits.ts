/** Limits on how projections read, write and expire that nothing else uses. Limits that others share, or that clients meet, are in src/limits.ts. */

const MIB = 1024 * 1024;
const SECOND_MS = 1000;

/** Sequences whose rows are counted before requests are answered again: some milliseconds. */
export const RECONCILED_SEQUENCES_PER_TURN = 50_000;
/** How long after its end an hour is reconciled, so that all of its counts are stored, and how often that is checked. */
export const RECONCILE_AFTER_MS = 2 * 60 * SECOND_MS;
export const RECONCILE_LOOK_MS = 30 * SECOND_MS;
/** The most rows that a stream or an export reads at once; fewer if events are large. */
export const WALK_ROWS_MAX = 500;
/** For the first page: nothing is known yet about how large the tenant's events are, and 4 of the largest are 1 MiB. */
export const WALK_ROWS_FIRST = 4;
/** What those rows come to together at most, in characters: each of STREAMS_MAX readers who take nothing has such a page wait. More or fewer are read for the next. */
export const WALK_PAGE_CHARACTERS = 1 * MIB;
/**
 * Rows read before their size is checked: 62 MiB for a moment if the largest follow small ones. An export by words from PostgreSQL took 3.8 times the
 * CPU of reading a whole page at once with 64, and 1.4 times with this many (measured).
 */
export const WALK_ROWS_PER_READ = 250;
/** Stretch of the log that one page searches, so that a rare filter does not block the process: some 10 ms (measured). */
export const WALK_SEQUENCES_MAX = 50_000;
/** event_ids of a request that are looked up with one statement: less than a millisecond in SQLite, after which others have a turn. */
export const EVENT_IDS_PER_QUERY = 100;
/** Records of one commit, which projections hold in memory with all rows that result from them; fewer while they keep up. */
export const PROJECTION_RECORDS_PER_COMMIT_MAX = 2000;
/** Records taken after a failure, doubled after each success: a disk without room for the rows of many may have room for those of a few. */
export const PROJECTION_RECORDS_RETRIED = 250;
/** How long projections may run before requests are answered again. The most expensive one takes 12 ms for most batches, 40 for some (measured). */
export const EVOLVE_MS_PER_TURN = 4;
/** Events about the asset and the person of a decision that are searched for those that no rule links, and the cases that are asked about them. */
export const BESIDE_EVENTS_MAX = 1000;
export const BESIDE_EVENTS_PER_PAGE = 200;
export const BESIDE_CASES_MAX = 50;
/** How often obligations are checked, and how many are notified of at a time. */
export const NOTIFY_MS = 1 * SECOND_MS;
export const NOTIFIED_DUTIES = 500;
/** Assets that are counted for one outcome hash: a hash that more of them share is that of a word, and not of a text or an image. */
export const OUTCOME_ASSETS_MAX = 64;
/**
 * The newest decisions, duties and labels of an asset among which three examples of evidence are searched; its audits are all read, this many rows at
 * a time.
 */
export const EVIDENCE_ROWS_MAX = 50;
export const AUDIT_ROWS_PER_READ = 500;
/** How often due events expire, and how often a projector checks whether that is due or was left unfinished. */
export const EXPIRY_INTERVAL_MS = 60 * 60 * SECOND_MS;
export const EXPIRY_LOOK_MS = 10 * SECOND_MS;
/** Events that expire in one transaction: some milliseconds of writing, so that projecting has its turn. */
export const EXPIRY_ROWS_PER_COMMIT_MAX = 100;
/** Pause between two such transactions, so that reads and projecting go first. */
export const EXPIRY_PAUSE_MS = 10;
/** How often a step is recomputed because a case got an event meanwhile; then the pass ends, and restarts later. */
export const EXPIRY_TRIES_MAX = 5;
/** After a step that changed cases, projecting may have to compute a batch again: the next step waits this long for it. */
export const EXPIRY_TURN_MS_MAX = SECOND_MS;
/** How long a pass waits for the views to reach the end of the log where a hold is on a case; then it ends, and restarts later. */
export const EXPIRY_WAIT_MS_MAX = 60 * SECOND_MS;
/** Wait before a projection continues after a failure: doubles from the first value to the second. */
export const PROJECTION_RETRY_MS_MIN = 100;
export const PROJECTION_RETRY_MS_MAX = 5 * SECOND_MS;
/** How long a view that catches up reads before the others have a turn. */
export const PROJECTION_CATCH_UP_MS = 1 * SECOND_MS;
/** How long a rebuild reads between two reports of its progress. */
export const REBUILD_STEP_MS = 250;
/** How many records a rebuilt view may be behind the live one when it replaces it: it catches up within a second. */
export const REPLACE_LAG_MAX = 1000;
/** How often the replacement is tried, each time after catching up. */
export const REPLACE_TRIES_MAX = 50;
/** How long a rebuild pauses while another reader has the whole view, or while `events`, which it reads, is behind; and how often it does. */
export const REBUILD_REST_MS = 100;
export const LEADER_BEHIND_TRIES_MAX = 100;
/** Differences that are named when a view is compared with the log. */
export const VERIFY_DIFFERENCES_MAX = 20;
/** How often a replay is tried while a projector advances the views. */
export const REPLAY_TRIES_MAX = 200;
/** How long a quiet log is followed before the views are checked again: longer than its reader takes to notice that a replica has stalled. */
export const PROJECTION_IDLE_MS_MAX = 3 * SECOND_MS;
/** How often a standby runner checks whether the other writer of its view still advances it. */
export const PROJECTION_STANDBY_MS = 1 * SECOND_MS;
/** How often the position of a view is read for all reads together that wait for it, and how long one read may take before another is tried. */
export const VIEW_POSITION_POLL_MS = 10;
export const VIEW_LOOK_MS_MAX = SECOND_MS;

/** Share of the time in which obligations are counted, while they are. */
export const COUNTED_DUTIES_SHARE = 1 / 20;
