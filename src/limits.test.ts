/** The relations between the limits, whoever changes one of them. */
import { expect, test } from "bun:test";
import {
  APPEND_BYTES_IN_FLIGHT_MAX,
  APPEND_RECORDS_IN_FLIGHT_MAX,
  BATCH_BODY_BYTES_MAX,
  BATCH_EVENTS_MAX,
  BODY_BYTES_HELD_MAX,
  BODY_MS_MAX,
  BROKER_REQUEST_MS_MAX,
  COMMIT_BYTES_MAX,
  CONNECTION_IDLE_MS_MAX,
  DUPLICATE_WINDOW_MS,
  EVENT_BYTES_MAX,
  HELD_SHARE_OF_ONE,
  KEY_STATE_AGE_MS_MAX,
  KEY_STATE_CHECK_MS,
  MIN_SEQUENCE_WAIT_MS_MAX,
  PROOF_WAIT_SECONDS_MAX,
  RATES_AGE_MS_MAX,
  RECORD_OVERHEAD_BYTES_MAX,
  REQUEST_DRAIN_MS_MAX,
  SANDBOX_AGE_MS_MAX,
  SANDBOX_BODY_BYTES_HELD_MAX,
  SINGLE_BODY_BYTES_MAX,
  STOP_MS_MAX,
  STREAM_KEEP_ALIVE_MS,
  VIEWS_DRAIN_MS_MAX,
} from "./limits.ts";

/** A connection without traffic certainly stays open for this long: Bun counts in steps of 4 s, and may be one step early (measured). */
const QUIET_MS = CONNECTION_IDLE_MS_MAX - 4000;

test.each<[string, number, number]>([
  ["an event fits into its request", EVENT_BYTES_MAX, SINGLE_BODY_BYTES_MAX - 1],
  ["a batch may be larger than one event", SINGLE_BODY_BYTES_MAX, BATCH_BODY_BYTES_MAX - 1],
  ["a full batch fits into the bytes in flight", BATCH_BODY_BYTES_MAX, APPEND_BYTES_IN_FLIGHT_MAX],
  ["a full batch fits into the records in flight", BATCH_EVENTS_MAX, APPEND_RECORDS_IN_FLIGHT_MAX],
  ["a record fits into a commit", EVENT_BYTES_MAX + RECORD_OVERHEAD_BYTES_MAX, COMMIT_BYTES_MAX],
  ["the window is at most max_age (JetStream error 10052)", DUPLICATE_WINDOW_MS, SANDBOX_AGE_MS_MAX],
  [
    "one lost answer does not make an instance not ready",
    KEY_STATE_CHECK_MS + BROKER_REQUEST_MS_MAX,
    KEY_STATE_AGE_MS_MAX - 1,
  ],
  ["the last requests end before the stop does", REQUEST_DRAIN_MS_MAX, STOP_MS_MAX - 1],
  ["requests that wait for views end before the others", VIEWS_DRAIN_MS_MAX, REQUEST_DRAIN_MS_MAX - 1],
  ["two windows of the largest batch are kept", 2 * BATCH_EVENTS_MAX * 1000, RATES_AGE_MS_MAX - 1],
  ["a quiet stream does not look like a dead connection", STREAM_KEEP_ALIVE_MS, QUIET_MS - 1],
  ["a request without its body is answered before its connection is closed", BODY_MS_MAX, QUIET_MS - 1],
  [
    "a request that waits for a proof is answered before its connection is closed",
    MIN_SEQUENCE_WAIT_MS_MAX + PROOF_WAIT_SECONDS_MAX * 1000,
    QUIET_MS - 1,
  ],
  ["one tenant's batch can be held", BATCH_BODY_BYTES_MAX, BODY_BYTES_HELD_MAX * HELD_SHARE_OF_ONE],
  ["a client's event can be held", SINGLE_BODY_BYTES_MAX, SANDBOX_BODY_BYTES_HELD_MAX * HELD_SHARE_OF_ONE],
])("%s", (_, smaller, larger) => expect(smaller).toBeLessThanOrEqual(larger));
