/**
 * What the first announcer sees, written down before the stream of duties is asked: what happens while the stream does not answer is not the past,
 * and is announced.
 */
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { rowText } from "../store/tables.ts";
import type { Expectation, ViewStore, Write } from "../store/view-store.ts";
import type { Cases } from "./looked-at-cases.ts";
import { ANNOUNCEMENTS, TOLD_FROM_KEY, TOLD_FROM_LOG_KEY, TOLD_VERSION, TOLD_VERSION_KEY } from "./tables.ts";

const SEEN = [TOLD_FROM_KEY, TOLD_FROM_LOG_KEY] as const;

export const NOBODY_HAS_BEGUN: Expectation = { table: TOLD_VERSION, key: TOLD_VERSION_KEY, row: undefined };

/** Written with the beginning. */
export const FIRST_LOOK_GONE: readonly Write[] = SEEN.map((key) => ({
  kind: "delete",
  table: TOLD_VERSION,
  key,
}));

export const firstLook = async (
  { views, log }: { readonly views: ViewStore; readonly log: Pick<LogReader, "lastSequence"> },
  { end }: Cases,
  pastEnd: Sequence | undefined,
): Promise<{ readonly casesEnd: Sequence; readonly logEnd: Sequence }> => ({
  casesEnd: await seenFirst(views, TOLD_FROM_KEY, async () => end),
  // After the cases: the log may not answer either. Making the tables takes a second on a busy PostgreSQL, and events are taken meanwhile.
  logEnd: await seenFirst(views, TOLD_FROM_LOG_KEY, async () => pastEnd ?? log.lastSequence()),
});

const seenFirst = async (
  views: ViewStore,
  key: (typeof SEEN)[number],
  look: () => Promise<Sequence>,
): Promise<Sequence> => {
  const written = await seenBefore(views, key);
  if (written !== undefined) return written;
  const seen = await look();
  await views.commit({
    views: [ANNOUNCEMENTS],
    from: 0,
    to: 0,
    writes: [{ kind: "upsert", table: TOLD_VERSION, row: { ...key, rules: String(seen) } }],
    deadLetters: [],
    expected: [NOBODY_HAS_BEGUN, { table: TOLD_VERSION, key, row: undefined }],
  });
  // If two announcers look, the first one has written. If that one has begun meanwhile, the beginning of this one is refused.
  return (await seenBefore(views, key)) ?? seen;
};

const seenBefore = async (views: ViewStore, key: (typeof SEEN)[number]): Promise<Sequence | undefined> => {
  const [row] = await views.load(TOLD_VERSION, [key]);
  return row && Number(rowText(row, "rules"));
};
