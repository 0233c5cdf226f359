/** Takes the records of dead letters once more, where the views stand now: rows and the end of the letter are one transaction, no position moves. */
import { REPLAY_TRIES_MAX } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import { DEAD_LETTERS, type ViewStore, type Write } from "../views/view-store.ts";
import { evolveGroup } from "./evolve-group.ts";
import type { Projection } from "./projection.ts";

export type Replayed =
  | { readonly kind: "taken" }
  /** The letter stays. */
  | { readonly kind: "refused"; readonly code: string; readonly detail: string }
  | { readonly kind: "failed"; readonly reason: string };

/**
 * `projections`: all of them, the leader first. Where the leader takes a record that it had refused, it is the first of its event now, which the
 * others had passed over: they take it too.
 */
export const replayLetter = async (
  { log, views, now }: { readonly log: LogReader; readonly views: ViewStore; readonly now: () => Date },
  projections: readonly [Projection, ...Projection[]],
  letter: { readonly projection: string; readonly sequence: number },
): Promise<Replayed> => {
  const [leader] = projections;
  const affected =
    letter.projection === leader.name
      ? projections
      : projections.filter(({ name }) => name === letter.projection);
  const message = await log.read(letter.sequence);
  if (!message || affected.length === 0) return { kind: "failed", reason: "there is no such record or view" };
  for (let tries = 0; tries < REPLAY_TRIES_MAX; tries++) {
    const positions = await Promise.all(affected.map(({ name }) => views.position(name)));
    const [position = 0] = positions;
    if (positions.some((each) => each !== position)) continue;
    const { writes, deadLetters, expected } = await evolveGroup({
      projections: affected,
      messages: [message],
      load: views.load,
      now: now().toISOString(),
    });
    const refusal = deadLetters.find(({ projection }) => projection === letter.projection);
    if (refusal) return { kind: "refused", code: refusal.code, detail: refusal.detail };
    const key = { projection: letter.projection, sequence: letter.sequence };
    const settled: Write = { kind: "delete", table: DEAD_LETTERS, key };
    const result = await views.commit({
      views: affected,
      from: position,
      to: position,
      writes: [...writes, settled],
      deadLetters,
      expected,
    });
    if (result.kind === "committed") return { kind: "taken" };
    if (result.kind === "unwritable") return { kind: "refused", code: "row_refused", detail: result.detail };
  }
  return { kind: "failed", reason: "the views did not stand still at one position" };
};
