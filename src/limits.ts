/**
 * Every limit that a client, an operator or more than one module meets, with its unit in the name and its reason beside it. Limits of the SDK, of the
 * command line and of how projections run are in limits.ts of their folders, because nothing else uses them. A limit of one step of one module, such
 * as a pause between two attempts, is beside that step. Settings that an operator may change are in service/config.ts. limits.test.ts checks what
 * must hold between limits.
 */
const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND_MS = 1000;

/** Events per batch request (SPEC 8). */
export const BATCH_EVENTS_MAX = 1000;
/** One event as it was sent, in bytes of UTF-8 (DESIGN 8). */
export const EVENT_BYTES_MAX = 256 * KIB;
/** Body of a request with one event, in bytes: the event, and white space around it. */
export const SINGLE_BODY_BYTES_MAX = 1 * MIB;
/** Body of any other request, in bytes: a longer value is not parsed. */
export const OBJECT_BODY_BYTES_MAX = EVENT_BYTES_MAX;
/** Body of `POST /v1/events/batch`, in bytes. */
export const BATCH_BODY_BYTES_MAX = 16 * MIB;
/**
 * The size at which the runtime itself closes a connection without an answer. Far above what any handler reads; handlers answer with a reason, and
 * hold nothing beyond their own limit.
 */
export const CONNECTION_BODY_BYTES_MAX = 1024 * MIB;
/** Nesting of objects and arrays inside one event, the event itself being level 1. */
export const EVENT_DEPTH_MAX = 64;
/** What a record adds around an event (tenant, time, request id, names) plus its NATS headers, in bytes. */
export const RECORD_OVERHEAD_BYTES_MAX = 4 * KIB;

/** Tags per event (SPEC 8), and the length of a key and of a text value in characters. */
export const TAGS_MAX = 16;
export const TAG_KEY_CHARACTERS_MAX = 64;
export const TAG_VALUE_CHARACTERS_MAX = 256;
/** Legal bases per event: SPEC 2.1 speaks of ten kinds. */
export const LEGAL_BASES_MAX = 10;
export const LEGAL_BASIS_CHARACTERS_MAX = 64;
/** Legal bases in `metadata` that the views look at. Their number is not limited when an event is accepted, and one of them may require the longest retention. */
export const METADATA_LEGAL_BASES_MAX = 64;
/** asset_id, correlation_id, trace_id, span_id, asset_version, in characters. */
export const IDENTIFIER_CHARACTERS_MAX = 256;
/** The part of an event_id after its prefix, in characters. */
export const EVENT_ID_SUFFIX_CHARACTERS_MAX = 250;
/** Digits of a time's fraction by which events are ordered and found, more than any clock has: an index row of PostgreSQL takes 2704 bytes. The event keeps all. */
export const TIME_KEY_FRACTION_DIGITS_MAX = 64;
/** Idempotency-Key header, in visible ASCII characters. */
export const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255;

/** Problems listed for one event or request; more are counted in its text. The answer to a batch lists this many beside the first of each event: a thousand bad events took 13 MB (measured). */
export const PROBLEMS_PER_EVENT_MAX = 50;
export const PROBLEMS_PER_BATCH_MAX = 4000;
/** Warnings listed in one answer; where there are more, the last one says how many. */
export const WARNINGS_MAX = 50;
/** Places in a batch that one of its warnings lists; it counts them all. */
export const WARNING_INDEXES_MAX = 10;
/** Unknown names of one event that are compared with the known ones, members and keys of metadata each: 3 µs for one key (measured). */
export const NAMES_COMPARED_MAX = 500;
/** An event whose time is further ahead of our clock, or further back, is answered with a warning (DESIGN 9). */
export const CLOCK_AHEAD_MS_MAX = 5 * 60 * SECOND_MS;
export const LONG_AGO_MS_MIN = 30 * 24 * 60 * 60 * SECOND_MS;

/** How long the broker remembers a message id (SPEC 4.1: Idempotency-Key is cached for 10 minutes). */
export const DUPLICATE_WINDOW_MS = 10 * 60 * SECOND_MS;
/** Age at which a sandbox event disappears (SPEC 1.4). */
export const SANDBOX_AGE_MS_MAX = 60 * 60 * SECOND_MS;
/** How long a counter of a rate limit is kept: two of the longest windows, which hold a batch of 1000 at one event per second. */
export const RATES_AGE_MS_MAX = 40 * 60 * SECOND_MS;
/** Memory of all rate counters together, about 200 bytes each. */
export const RATES_BYTES_MAX = 64 * MIB;
/** If a rate counter does not answer within this time, the request goes on without it. */
export const RATE_COUNT_MS_MAX = 500;
/** How long the counts of acknowledged events are kept: five years, as long as the longest law asks for evidence. */
export const COUNTS_AGE_MS_MAX = 5 * 366 * 24 * 60 * 60 * SECOND_MS;
/** Disk for them: five years of some thousand tenants, or more than a year of 10,000 that send in every hour. The oldest days go first. */
export const COUNTS_BYTES_MAX = 1024 * MIB;
/** One message of them, with about 150 bytes of each of its tenants. No broker takes more than a record. */
export const COUNTS_MESSAGE_BYTES_MAX = EVENT_BYTES_MAX;
/** How often the counts are stored. */
export const COUNTS_FLUSH_MS = 1 * SECOND_MS;
/** Days whose counts are read in parallel. */
export const COUNTS_DAYS_READ_AT_ONCE = 8;
/** Hours in one answer of a reconciliation: a month. And the last hours that are reconciled if it is not known which already were. */
export const RECONCILED_HOURS_MAX = 31 * 24;
export const RECONCILED_HOURS_FIRST = 24;
/** Events named in one hour that does not balance, and records of the log read to find them. */
export const RECONCILED_EVENTS_NAMED_MAX = 100;
export const RECONCILED_RECORDS_READ_MAX = 200_000;
/** Requests per minute of one client to all sandbox endpoints together (SPEC 8). */
export const SANDBOX_REQUESTS_PER_MINUTE = 100;
/** Sandbox events sent to the broker and not yet acknowledged. */
export const SANDBOX_IN_FLIGHT_MAX = 256;
/** Sandbox events that one list reads at once (4 MiB of the largest), and lists that are built at once. */
export const SANDBOX_READS_AT_ONCE = 16;
export const SANDBOX_LISTS_AT_ONCE = 2;
/** Memory that all sandbox events may take together, in bytes; the oldest go first. */
export const SANDBOX_BYTES_MAX = 256 * MIB;

/** An append that is not acknowledged within this time is answered 503: its outcome is unknown, and a retry is safe. */
export const APPEND_ACK_MS_MAX = 8 * SECOND_MS;
/** Records handed to the broker and not yet acknowledged, and their bytes, of one tenant while others have few: 4 full batches, which are not refused for some events of others beside them. Of all twice that, of which one has HELD_SHARE_OF_ONE once half is held. Past it the answer is 503 `overloaded`. */
export const APPEND_RECORDS_IN_FLIGHT_MAX = 4.5 * BATCH_EVENTS_MAX;
export const APPEND_BYTES_IN_FLIGHT_MAX = 4.5 * BATCH_BODY_BYTES_MAX;
export const APPEND_RECORDS_HELD_MAX = 2 * APPEND_RECORDS_IN_FLIGHT_MAX;
export const APPEND_BYTES_HELD_MAX = 2 * APPEND_BYTES_IN_FLIGHT_MAX;
/** Messages of the log that are asked for at once, 350 KB each at most, and bytes that each request asks for that follows it (EXPORTS_MAX of them): past 64 MiB that wait for us a broker cuts everybody off, ours past 256 ("slow consumer", measured). */
export const LOG_READS_AT_ONCE = 64;
export const LOG_FOLLOWED_BYTES_MAX = 2 * MIB;

/** A log where every commit failed for this long is stalled: above the 4 to 6 s in which a cluster chooses a new leader (measured), and all of them fail. */
export const LOG_STALL_MS_MAX = 8 * SECOND_MS;
/** The same for streams that no request waits for: restarting the broker for them would cut off requests that wait for the log. */
export const OTHER_STALL_MS_MAX = 2 * LOG_STALL_MS_MAX;
/** After a stall was not seen for this long, the next request tries again: twice APPEND_ACK_MS_MAX, because one sender sees it that often. */
export const LOG_STALL_AGE_MS_MAX = 2 * APPEND_ACK_MS_MAX;
/** How often it is checked whether the log has the end that views and HEADS_COPY know. */
export const LOG_END_MS = 2 * SECOND_MS;
/** Heads named in the event that accepts a restored log, and the length of its reason. */
export const RESTORED_HEADS_NAMED_MAX = 100;
export const RESTORE_REASON_CHARACTERS_MAX = 1000;
/** Signed heads go to HEADS_COPY no more often than this. */
export const HEADS_COPY_MS_MIN = 1 * SECOND_MS;
/** How often that is checked. */
export const LOG_KEEPER_MS = 1 * SECOND_MS;

/** Records and bytes in one commit. JetStream takes at most 1000 messages in an atomic batch (NATS ADR-50). */
export const COMMIT_RECORDS_MAX = 1000;
export const COMMIT_BYTES_MAX = 8 * MIB;
/** A second commit overlaps the first one's fsyncs; a third gains nothing (measured: 97k, 113k, 113k events/s). */
export const COMMITS_IN_FLIGHT_MAX = 2;
/** Below this many records single messages are faster: each costs an fsync, an atomic batch one and some files in memory, or six on disk (measured). */
export const ATOMIC_RECORDS_MIN = 4;
/** Message ids whose sequence a front end remembers. Twenty full batches; ten times as many cost a tenth of the CPU time (measured). */
export const RECENT_IDS_MAX = 20_000;

/** How long reading one batch may occupy the process before others have a turn. One event takes at most a few of these times. */
export const INTAKE_TURN_MS_MAX = 10;

/** A text of a classification request, in characters: far above any name of a domain. */
export const CLASSIFICATION_TEXT_CHARACTERS_MAX = 256;

/** Longer words of the full-text search are truncated, in the index and in the query alike: a SHA-256 hash is just as long. */
export const WORD_CHARACTERS_MAX = 64;
/** Different words by which an event is found: a limit of what indexing one event costs. */
export const EVENT_WORDS_MAX = 256;
/** The parameter `q`: its characters, its words, and the characters before a `*`. One letter would match half of all words. */
export const SEARCH_CHARACTERS_MAX = 256;
export const SEARCH_WORDS_MAX = 16;
export const SEARCH_PREFIX_CHARACTERS_MIN = 2;
/** Words as which a prefix is looked up: if more begin with it, each of them is rare (measured: 256 take 30 ms to find and 15 ms to search for). */
export const PREFIX_WORDS_MAX = 256;

/** Page size of lists: the default for `limit`, and its maximum. */
export const PAGE_ROWS_DEFAULT = 50;
export const PAGE_ROWS_MAX = 1000;
/** Rows that are read at once for a file or a bundle, and those of each list inside an asset. */
export const PART_ROWS_MAX = 200;
/** What `count=true` counts to: beyond it the answer is "more than". */
export const COUNT_EXACT_MAX = 10_000;
/** Rows that one request looks at for a filter that no index serves, and how many at once: 50,000 take about a second. */
export const CHECKED_ROWS_MAX = 50_000;
export const CHECKED_ROWS_PER_READ = 1000;
/** Queries into which filters of several values are split: each combination of values is one. */
export const FILTER_COMBINATIONS_MAX = 64;
/** Bytes of events in one page of them, and events that are read at once for it: 16 MiB of the largest. */
export const PAGE_BYTES_MAX = 4 * MIB;
export const PAGE_ROWS_PER_READ = 64;
/** Live streams of one key, of one tenant, and of this process. */
export const STREAMS_PER_KEY_MAX = 32;
export const STREAMS_PER_TENANT_MAX = 128;
export const STREAMS_MAX = 512;
/** The same for exports, which read as fast as their client does. */
export const EXPORTS_PER_KEY_MAX = 4;
export const EXPORTS_PER_TENANT_MAX = 8;
export const EXPORTS_MAX = 32;
/** How often a stream without events sends a keep-alive, and how often its key is checked again. */
export const STREAM_KEEP_ALIVE_MS = 15 * SECOND_MS;
/** Time after which a client reconnects, sent at the start of a stream. */
export const STREAM_RETRY_MS = 2 * SECOND_MS;
/** How often the position of the view is read for all streams together. */
export const STREAM_POSITION_POLL_MS = 25;
/** How long a read waits for the view to reach `min_sequence` (DESIGN 3). */
export const MIN_SEQUENCE_WAIT_MS_MAX = 5 * SECOND_MS;
/** Bytes of records that projections request from the log at once. The next ones are read meanwhile, so twice that is in memory. */
export const PROJECTION_BYTES_PER_COMMIT_MAX = 16 * MIB;
/** How long after its due time an event that met an obligation in time may reach the log, unless the operator says otherwise (LATE_RECORD_GRACE). */
export const LATE_RECORD_GRACE_MS_DEFAULT = 24 * 60 * 60 * 1000;
/** Characters of the reason for waiving an obligation. */
export const WAIVE_REASON_CHARACTERS_MAX = 1000;
/** An obligation that falls due within this many days is due soon. */
export const DUE_SOON_DAYS = 7;
/** Events that an entry of coverage names as evidence. */
export const COVERAGE_EXAMPLES_MAX = 3;
/** Rows of one answer of activity; more are refused, with the advice to ask for less. */
export const ACTIVITY_ROWS_MAX = 10_000;
/** How long transitions of obligations are kept on their stream, and in how many bytes. */
export const OBLIGATIONS_AGE_MS_MAX = 400 * 24 * 60 * 60 * SECOND_MS;
export const OBLIGATIONS_BYTES_MAX = 1024 * MIB;
/** Legal bases that the register of assets shows of one asset, and under which one decision counts: its events may name any number. */
export const KEPT_LEGAL_BASES_MAX = 64;
/** What views keep of a text in metadata, in UTF-16 units, and of a decision's outcome, which stands in an index beside the longest ids: 2704 bytes at most (PostgreSQL, B-tree). */
export const KEPT_TEXT_CHARACTERS_MAX = 500;
export const OUTCOME_CHARACTERS_MAX = 64;
/** Items that a register keeps of a list in an event's metadata: clauses, a checklist. Decree 28(1) of the AI Basic Act names seven. */
export const METADATA_LIST_ITEMS_MAX = 32;
/** Longest input of a classification, as JSON, that the history of risk shows; a longer one is in its event. */
export const METADATA_JSON_CHARACTERS_MAX = 4000;
/** Events that a case keeps per name: the weightiest (src/views/cases/nodes.ts), then the earliest. Bounds long conversations and names used for everything. */
export const CASE_FACTS_MAX = 256;
/** Names beside which one name may occur before it counts as used for everything and links nothing. */
export const CASE_NEIGHBOURS_MAX = 64;
/** Decisions of one asset about one person that a notice without a name still reaches when it arrives after them. One that arrives before its decision always does. */
export const PERSON_DECISIONS_MAX = 256;
/** Largest age of a policy: a century, which refuses a typo and no law. */
export const RETENTION_DAYS_MAX = 36_525;
/** Holds of one tenant that are not released: they are checked for every batch that expires. */
export const HOLDS_PER_TENANT_MAX = 1000;
export const HOLD_REASON_CHARACTERS_MAX = 1000;
/** Signed tree heads that are kept per tenant: for a tenant that always writes, those of the last day at one a second, 35 MB. */
export const CHECKPOINTS_PER_TENANT_MAX = 86_400;
/** How many of them are read at once. */
export const CHECKPOINTS_PER_READ = 1000;
/** Trees that the sealer handles in one look, the one that grew longest ago first. */
export const SEAL_TREES_PER_LOOK = 1000;
/** How many of them are sealed at once: each waits for the broker. */
export const SEAL_TREES_AT_ONCE = 16;
/** Private keys that sign together: with the longest names a tree head of so many is within the message that streams/topology.ts takes, and every verifier takes 16 (signed-note, Format). */
export const SIGNING_KEYS_MAX = 50;
/** How often the sealer checks that its keys are given out: some small requests to the broker. */
export const PUBLISH_KEYS_MS = 10 * SECOND_MS;
/** After this time the monitor restarts at the first message: what was right yesterday may be altered today. */
export const LOG_REREAD_MS = 24 * 60 * 60 * SECOND_MS;
/** Share of its time in which the monitor works while it catches up: 1,000,000 records take it a minute. Others have a turn after so many messages, or signatures (4 ms). */
export const MONITOR_DUTY = 0.2;
export const MONITOR_MESSAGES_MAX = 1000;
export const MONITOR_HEADS_PER_TURN = 50;
/** Leaves of all tenants that the monitor holds until tree heads cover them: 40 MB. */
export const MONITOR_LEAVES_UNSIGNED_MAX = 100_000;
/** How long `GET /v1/events/{event_id}/proof` waits for the seal at most, and how often it looks. */
export const PROOF_WAIT_SECONDS_MAX = 30;
export const PROOF_POLL_MS = 100;
/** Records of one evidence bundle, and their bytes: what an auditor's machine checks in a minute. More is asked for in parts. */
export const EVIDENCE_RECORDS_MAX = 100_000;
export const EVIDENCE_BYTES_MAX = 512 * MIB;
/** How long a bundle waits by default until everything in the log is sealed. */
export const EVIDENCE_WAIT_SECONDS_DEFAULT = 10;
/** How long it waits for the seal of its own event, at its end. */
export const EVIDENCE_ANCHOR_MS_MAX = 30 * SECOND_MS;
/** Records that are read from the log in parallel for a bundle: 16 MiB of the largest. */
export const EVIDENCE_READS_AT_ONCE = 64;
/** Records of a small bundle are read once, and kept for the other files. With EXPORTS_MAX of them 128 MiB. */
export const EVIDENCE_KEPT_BYTES_MAX = 4 * MIB;
/** Rows of the page for people: events, and of obligations, assets and decisions each. All of them are in the files beside it. */
export const EVIDENCE_TIMELINE_ROWS_MAX = 1000;
export const EVIDENCE_SUMMARY_ROWS_MAX = 200;
/** A page about more records than this begins with its contents. */
export const EVIDENCE_CONTENTS_RECORDS_MIN = 50;
/** If a view is further behind than this, the instance is not ready, and the monitor waits for the view. */
export const VIEW_LAG_RECORDS_MAX = 50_000;
/** Records that a view may lack without counting as one that is being built: some tenths of a second. */
export const VIEW_MADE_RECORDS_MIN = 1000;

/** How long a browser's session lasts after its last sign of life, and at most. */
export const SESSION_IDLE_MS_MAX = 60 * 60 * 1000;
export const SESSION_MS_MAX = 12 * 60 * 60 * 1000;
/** Name of an API key, in characters. */
export const KEY_NAME_CHARACTERS_MAX = 128;
/** The highest rate of one key per second: far above what one broker handles, so that it refuses a typo and no plan. */
export const KEY_RATE_PER_SECOND_MAX = 1_000_000;
/** Different limits that one request counts against: the key's own, and those of the keys that it comes from. */
export const RATE_SHARES_MAX = 8;
/** Keys of one tenant, revoked ones included: every front end holds all of them in memory, at about 1 KB each. */
export const KEYS_PER_TENANT_MAX = 10_000;
/** How long a rotated key works beside its successor, in seconds: a day by default, a week at most. */
export const KEY_GRACE_SECONDS_DEFAULT = 24 * 60 * 60;
export const KEY_GRACE_SECONDS_MAX = 7 * 24 * 60 * 60;
/** How often a front end reads what is new of the keys. */
export const KEY_STATE_CHECK_MS = 500;
/**
 * Keys not confirmed for this long make the instance not ready, because a key revoked meanwhile would still be accepted. Above the 4 to 6 s that a
 * cluster takes to choose a new leader (measured), which must not take every front end out of service at once.
 */
export const KEY_STATE_AGE_MS_MAX = 10 * SECOND_MS;
/** Changes of one key, policy or hold that wait for each other, some milliseconds each, so the last one waits for less than a second. Beyond it the answer is 503 `overloaded`. */
export const TURNS_WAITING_MAX = 32;
/** Revocations have room beyond that: a thief who rotates a key all the time must not keep its owner from revoking it. */
export const REVOCATIONS_WAITING_MAX = 2 * TURNS_WAITING_MAX;
/** If two front ends change one key all the time, each loses every second attempt, and all of this many once in a thousand times. */
export const KEY_UPDATE_TRIES_MAX = 10;
/** The same for a policy or a hold, which are seldom changed: three losses in a row are a fault. */
export const RETENTION_UPDATE_TRIES_MAX = 3;

/** Marks of failed actions that wait for the log: one commit of them, and they can only come as fast as actions fail. How often they are tried. */
export const FAILURE_MARKS_WAITING_MAX = COMMIT_RECORDS_MAX;
export const FAILURE_MARK_TRY_MS = 1 * SECOND_MS;

/** Rows of one page when a whole table is read, and dead letters that are read at once. */
export const SNAPSHOT_ROWS = 1000;
export const DEAD_LETTERS_LISTED_MAX = 1000;
/** Longest time for which writing a view may keep the process from answering requests. */
export const VIEW_WRITE_SLICE_MS_MAX = 4;
/** How long a commit waits for the transaction of another process on the same database file. */
export const VIEW_BUSY_MS_MAX = 10 * SECOND_MS;
/** A remote database that does not answer a query for this long counts as lost. */
export const VIEW_QUERY_MS_MAX = 30 * SECOND_MS;
/** A writer that is silent within a transaction for this long counts as gone: another projector continues within 5 s. */
export const VIEW_WRITER_SILENT_MS_MAX = 3 * SECOND_MS;
/** Connections for reading, per process: a slow search keeps one of them. */
export const VIEW_READ_CONNECTIONS_MAX = 4;
/** Text that is sent to a database in one statement; the next one is built while the server works on it. */
export const VIEW_STATEMENT_CHARACTERS_MAX = MIB / 2;
/** Prepared statements kept per connection. Their number grows with the combinations of filters that clients use. */
export const VIEW_STATEMENTS_CACHED_MAX = 256;

/** How long a start waits for a broker, for a cluster without a leader yet, and for the database of the views. */
export const START_WAIT_MS_MAX = 60 * SECOND_MS;
/** Pause before the next attempt to reach a broker, or at the start the database of the views. */
export const AWAY_RETRY_MS = 500;
/** How long readiness waits for the log, which may be slow, and for any other part: a load balancer waits a second. */
export const READINESS_LOG_MS_MAX = 800;
export const READINESS_PART_MS_MAX = 500;
/** A record that waits longer for a signed head is reported, and so is a monitor that has not read the whole log for so long, or cannot read it. */
export const UNSEALED_MS_MAX = 10 * 60 * SECOND_MS;
export const MONITOR_ROUND_MS_MAX = 48 * 60 * 60 * SECOND_MS;
export const MONITOR_FAILING_MS_MAX = 10 * 60 * SECOND_MS;
/** Rest between two counts of all obligations. */
export const COUNT_OBLIGATIONS_MS = 30 * SECOND_MS;
/** How long `/metrics` waits for the end of the log. */
export const METRICS_LOG_MS_MAX = SECOND_MS;

/** Time from the stop signal to the exit (DESIGN 2). */
export const STOP_MS_MAX = 10 * SECOND_MS;
/** The part of it after which connections of running requests are closed; requests that wait for the database of the views are given up earlier, so that they get an answer. */
export const REQUEST_DRAIN_MS_MAX = 5 * SECOND_MS;
export const VIEWS_DRAIN_MS_MAX = 4 * SECOND_MS;
/** Time for one request body to arrive: 16 MiB at half a megabyte per second, and the end of a client that only dribbles. */
export const BODY_MS_MAX = 30 * SECOND_MS;
/**
 * Bytes of a refused body that are read for nothing, within that time, before a connection is closed: what arrives at a closed one may cost the client
 * its answer (RFC 9112 §9.6). Four of the largest bodies.
 */
export const BODY_BYTES_DISCARDED_MAX = 4 * BATCH_BODY_BYTES_MAX;
/** How many of them at once: a fast sender has some MiB in the process before they are thrown away, and so many together 110 MB (measured). */
export const BODIES_DISCARDED_AT_ONCE = 32;
/** Time for the head of a request to arrive: Bun's own limit, which it has no setting for (measured). */
export const HEAD_MS_MAX = 10 * SECOND_MS;
/** Bodies over all requests, from their first bytes until they are answered; and those of the sandbox. Past it the answer is 503 `overloaded`. */
export const BODY_BYTES_HELD_MAX = 64 * MIB;
export const SANDBOX_BODY_BYTES_HELD_MAX = 32 * MIB;
/** The same for long lists until their readers have taken them, in pieces. Shorter ones go into the system's buffers at once. */
export const ANSWER_BYTES_HELD_MAX = 256 * MIB;
export const SANDBOX_ANSWER_BYTES_HELD_MAX = 64 * MIB;
export const ANSWER_CHARACTERS_UNCOUNTED_MAX = 64 * KIB;
export const ANSWER_PIECE_BYTES = 256 * KIB;
/** Share of these limits, and of records on their way to the log, that one tenant or one client of the sandbox may have once half of all is in use. */
export const HELD_SHARE_OF_ONE = 1 / 4;
/** A body announced with at most this many bytes counts with them from the start and is read in one piece, which costs less. Nearly every event is. */
export const BODY_READ_WHOLE_BYTES_MAX = 16 * KIB;
/** An idle connection is closed after this time, unless a page of its answer is still being searched. To Bun a connection is also idle while a body arrives (measured). */
export const CONNECTION_IDLE_MS_MAX = 45 * SECOND_MS;

/** A machine's clock that is further off is reported: an obligation's deadline may be missed because of it. HTTP's Date has whole seconds. */
export const CLOCK_OFF_MS_MAX = 5 * SECOND_MS;
/** Free space below which readiness and `prooftrail doctor` warn. */
export const DISK_FREE_BYTES_LOW = 1024 * MIB;
/** Consumers that your own services may have on one stream. Each durable one is a group of servers that elect a leader: 1000 took a quarter of a core (measured). */
export const CONSUMERS_PER_STREAM_MAX = 64;
/** Memory of a broker's streams, in relation to what they reserve. */
export const BROKER_MEMORY_HEADROOM = 1.25;
/** How long the broker may take for a small request, about a key, a tree head or a stream: while a cluster has no leader it is lost, and the next one is answered. */
export const BROKER_REQUEST_MS_MAX = 2 * SECOND_MS;
/** How often the brokers and their streams are looked at, and the used share of a limit that is reported. */
export const BROKER_LOOK_MS = 2 * SECOND_MS;
export const BROKER_USAGE_HIGH = 0.9;
