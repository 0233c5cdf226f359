/** Numbers that bound how projections read, write and expire, and that nothing else asks for. Those that others share, and that clients meet, stand in src/limits.ts. */

const MIB = 1024 * 1024;
const SECOND_MS = 1000;

/** Sequences whose rows are counted before requests have a turn: some milliseconds. */
export const RECONCILED_SEQUENCES_PER_TURN = 50_000;
/** How long after its end an hour is reconciled, so that all counts of it have been handed on, and how often that is looked after. */
export const RECONCILE_AFTER_MS = 2 * 60 * SECOND_MS;
export const RECONCILE_LOOK_MS = 30 * SECOND_MS;
/** Rows that a stream or an export reads at once, at most; less where events are large. */
export const WALK_ROWS_MAX = 500;
/** For the first page: nothing is known yet about how large the tenant's events are, and 4 of the largest are 1 MiB. */
export const WALK_ROWS_FIRST = 4;
/** What those rows come to together at most, in characters: each of STREAMS_MAX readers who take nothing has such a page wait. More or fewer are read for the next. */
export const WALK_PAGE_CHARACTERS = 1 * MIB;
/** Rows that are read before it is looked how large they are: 16 MiB of the largest. */
export const WALK_ROWS_PER_READ = 64;
/** Stretch of the log that one page looks through, so that a rare filter does not keep the process: some 10 ms (measured). */
export const WALK_SEQUENCES_MAX = 50_000;
/** event_ids of a request that are looked up with one statement: less than a millisecond in SQLite, after which others have a turn. */
export const EVENT_IDS_PER_QUERY = 100;
/** Records that projections hold in memory at a time with all rows that come of them, fewer where they keep up: 4000 write a tenth more, 16,000 take 300 MB more (measured). */
export const PROJECTION_RECORDS_PER_GROUP_MAX = 8000;
/** Taken at a time by who is behind, in one transaction where the database gains by it (SQLite a fifth with a million events). Others wait for it, two seconds or so. */
export const PROJECTION_RECORDS_PER_COMMIT_MAX = 4 * PROJECTION_RECORDS_PER_GROUP_MAX;
/** How many are taken after a failure, and twice as many each time that it goes well: where many rows have no room on a disk, those of a few may. */
export const PROJECTION_RECORDS_RETRIED = 250;
/**
 * Records that one projection evolves at a time, and how long projections may go on before requests have a turn. What a case or an asset is told by
 * several records of a step is worked out once: all of projecting takes a sixteenth less than with steps of 500. The dearest projection
 * takes 12 ms for most steps, 40 for some (measured). In bytes above so many of the usual size: 63 of the largest events in one step took it 4 s (measured).
 */
export const EVOLVE_RECORDS_PER_STEP = 2000;
export const EVOLVE_BYTES_PER_STEP = 2 * MIB;
export const EVOLVE_MS_PER_TURN = 4;
/** Notices to one person that are looked through for the last one before a decision. */
export const NOTICES_LOOKED_AT_MAX = 2000;
export const NOTICES_PER_PAGE = 200;
/** How often duties are looked at, how many of them are told of at a time, and how long who was overtaken rests. */
export const ANNOUNCE_MS = 1 * SECOND_MS;
export const ANNOUNCE_DUTIES = 500;
export const ANNOUNCE_STANDBY_MS = 4 * SECOND_MS;
/** Assets that are counted for one outcome hash: one that more of them share is that of a word, and not of a text or an image. */
export const OUTCOME_ASSETS_MAX = 64;
/** Of one asset its newest decisions, duties and labels, in which three examples of evidence are looked for; its audits are all read, so many rows at a time. */
export const EVIDENCE_ROWS_MAX = 50;
export const AUDIT_ROWS_PER_READ = 500;
/** How often what is due expires, and how often a projector looks whether that is due or was left unfinished. */
export const EXPIRY_INTERVAL_MS = 60 * 60 * SECOND_MS;
export const EXPIRY_LOOK_MS = 10 * SECOND_MS;
/** Events that expire in one transaction: some milliseconds of writing, so that projecting has its turn. */
export const EXPIRY_ROWS_PER_COMMIT_MAX = 100;
/** Between two such transactions, so that reads and projecting go first. */
export const EXPIRY_PAUSE_MS = 10;
/** Times that a step is built because a case got an event meanwhile; the last time without its cases, so that nothing stops the rest. */
export const EXPIRY_TRIES_MAX = 5;
/** After a step in which cases went, projecting begins a group anew at most: so long the next step waits for it to end. */
export const EXPIRY_TURN_MS_MAX = SECOND_MS;
/** How often all cases are looked at, for those that hang together otherwise than when their last event expired. */
export const CASES_WALK_MS = 7 * 24 * 60 * 60 * SECOND_MS;
/** A projector that expires says so this long ahead; when it dies, another goes on after that time. */
export const EXPIRY_LEASE_MS = 60 * SECOND_MS;
/** Hashes of the tree that are kept while its proofs are made: 10 MB. Neighbours share all but a few. */
export const PROVER_HASHES_MAX = 50_000;
/** Wait before a projection reads on after a fault: doubles from the first to the second. */
export const PROJECTION_RETRY_MS_MIN = 100;
export const PROJECTION_RETRY_MS_MAX = 5 * SECOND_MS;
/** A view that catches up reads this long before the others have a turn. */
export const PROJECTION_CATCH_UP_MS = 1 * SECOND_MS;
/** How long a rebuild reads before it tells how far it is. */
export const REBUILD_STEP_MS = 250;
/** A rebuilt view may stand so many records behind the live one when it takes its place: it catches up within a second. */
export const REPLACE_LAG_MAX = 1000;
/** How often that is tried, each time after catching up. */
export const REPLACE_TRIES_MAX = 50;
/** A view that was replaced is waited for this long, until it stands where the others do. */
export const REPLACE_SETTLE_MS_MAX = 10 * SECOND_MS;
/** Differences that are named when a view is held against the log. */
export const VERIFY_DIFFERENCES_MAX = 20;
/** A replay is tried so often while a projector moves the views. */
export const REPLAY_TRIES_MAX = 200;
/** How often a runner that stands by looks whether the other writer of its view still moves. */
export const PROJECTION_STANDBY_MS = 1 * SECOND_MS;
/** How often the position of a view is looked at for all reads together that wait for it, and how long a look may take before another is tried. */
export const VIEW_POSITION_POLL_MS = 10;
export const VIEW_LOOK_MS_MAX = SECOND_MS;
