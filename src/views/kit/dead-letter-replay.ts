/**
 * Replays the records of dead letters at the current position of the views: rows and removal of the letter are one transaction, and no
 * position changes.
 */
import type { LogReader } from "../../log/event-log.ts";
import { dueNow } from "../cases/registers/obligations.ts";
import { EVENTS } from "../events/tables.ts";
import { type Row, rowText } from "../store/tables.ts";
import { DEAD_LETTERS, revised, type ViewStore, type Write } from "../store/view-store.ts";
import { applyBatch } from "./apply-batch.ts";
import { REPLAY_TRIES_MAX } from "./limits.ts";
import type { Projection } from "./projection.ts";

export type Replayed =
  | { readonly kind: "taken" }
  /** The letter stays. */
  | { readonly kind: "refused"; readonly code: string; readonly detail: string }
  | { readonly kind: "failed"; readonly reason: string };

/**
 * `projections`: all of them, the leader first. If the leader takes a record that it had refused, the record becomes the first of its event, which
 * the others had skipped: they take it too.
 */
export const replayLetter = async (
  { log, views, now }: { readonly log: LogReader; readonly views: ViewStore; readonly now: () => Date },
  projections: readonly [Projection, ...Projection[]],
  letter: { readonly projection: string; readonly sequence: number },
): Promise<Replayed> => {
  const { sequence } = letter;
  const [leader] = projections;
  const asked = projections.find(({ name }) => name === letter.projection);
  const message = await log.read(sequence);
  if (!message || !asked) return { kind: "failed", reason: "no such record or view" };
  // Records after it already have their leaves.
  if (asked.takes === "entries") return { kind: "failed", reason: "only making the view again mends it" };
  for (let tries = 0; tries < REPLAY_TRIES_MAX; tries++) {
    const letters = await lettersAt(views, projections, sequence);
    if (!letters.has(asked.name)) return { kind: "failed", reason: "no such dead letter" };
    const affected = asked === leader ? projections.filter((each) => isTold(each, letters)) : [asked];
    const [position = 0, ...others] = await Promise.all(affected.map(({ name }) => views.position(name)));
    if (others.some((each) => each !== position)) continue;
    const { writes, deadLetters, expected, eventsAt } = await applyBatch({
      projections: affected,
      messages: [message],
      load: views.load,
      now: now().toISOString(),
    });
    // While `events` is being rebuilt, its rows do not say yet which records are first ones.
    if (eventsAt < position) continue;
    const refusal = deadLetters.find(({ projection }) => projection === asked.name);
    if (refusal) return { kind: "refused", code: refusal.code, detail: refusal.detail };
    // The ledger sees every record, first or not.
    const isCounted = affected.some((each) => each !== leader && each.takes === undefined);
    if (asked === leader && !isCounted && !isFirst(writes, sequence)) return REPEATED;
    const left = new Set(deadLetters.map(({ projection }) => projection));
    const settled = affected.filter(({ name }) => letters.has(name) && !left.has(name));
    const result = await views.commit({
      views: affected,
      from: position,
      to: position,
      writes: [
        ...dueNow(writes, now()),
        ...settled.map(
          ({ name }): Write => ({ kind: "delete", table: DEAD_LETTERS, key: letterKey(name, sequence) }),
        ),
        ...affected.map(({ name }) => revised(name)),
      ],
      deadLetters,
      expected: [
        ...expected,
        { table: DEAD_LETTERS, key: letterKey(asked.name, sequence), row: letters.get(asked.name) },
      ],
    });
    if (result.kind === "committed") return { kind: "taken" };
    if (result.kind === "unwritable") return { kind: "refused", code: "row_refused", detail: result.detail };
  }
  return { kind: "failed", reason: "the views did not stay at one position" };
};

/** The projections to which a record is given that the leader takes now: those that skipped it, or could not take it either. */
const isTold = ({ name, takes }: Projection, letters: ReadonlyMap<string, Row>): boolean =>
  takes === "first_events" || (takes === undefined && letters.has(name));

/** Whether the leader has taken the record as the first one of its event. */
const isFirst = (writes: readonly Write[], sequence: number): boolean =>
  writes.some(
    (write) => write.kind === "insert" && write.table === EVENTS && write.row.sequence === sequence,
  );

/** Another record of its event is the first one in the rows, and the ledger, which saw this one before, would never count it as a repeat. */
const REPEATED: Replayed = {
  kind: "refused",
  code: "repeated_event",
  detail:
    "the event was sent more than once and another record stands for it; rebuild the views with `views rebuild`, events first",
};

const letterKey = (projection: string, sequence: number) => ({ projection, sequence });

const lettersAt = async (
  views: ViewStore,
  projections: readonly Projection[],
  sequence: number,
): Promise<ReadonlyMap<string, Row>> => {
  const rows = await views.load(
    DEAD_LETTERS,
    projections.map(({ name }) => letterKey(name, sequence)),
  );
  return new Map(rows.map((row) => [rowText(row, "projection"), row]));
};
