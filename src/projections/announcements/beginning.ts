/** From where on an announcer tells: where it is the first, where all views were lost, and where the log has lost its end. */
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Row } from "../../views/tables.ts";
import type { ViewStore, Write } from "../../views/view-store.ts";
import { FIRST_LOOK_GONE, firstLook, NOBODY_HAS_BEGUN } from "./first-look.ts";
import type { Cases } from "./looked-at-cases.ts";
import {
  ANNOUNCEMENT_NOTES,
  ANNOUNCEMENTS,
  ANNOUNCEMENTS_BEGUN,
  TOLD_BEHIND_KEY,
  TOLD_BY_NO_VERSION,
  TOLD_VERSION,
  TOLD_VERSION_KEY,
} from "./tables.ts";
import { type Announced, record, type TellDependencies } from "./tell.ts";

export interface BeginDependencies extends Pick<TellDependencies, "lastPublished"> {
  readonly views: ViewStore;
  readonly log: Pick<LogReader, "lastSequence">;
}

/**
 * What happened before there was an announcer is told of when it changes. Where there was one and all views were lost, that is what the log holds: cases stand far
 * behind it, and what they will hold was told of before. It is looked at once when they hold it: what is open still falls due in time.
 */
export const begin = async (
  { views, log, lastPublished }: BeginDependencies,
  cases: Cases,
  pastEnd: Sequence | undefined,
): Promise<void> => {
  for (const view of [ANNOUNCEMENT_NOTES, ANNOUNCEMENTS_BEGUN, ANNOUNCEMENTS]) await views.open(view);
  // The version says that somebody has begun; the views alone may have been made by one who was killed then.
  if ((await views.position(ANNOUNCEMENTS.name)) > 0 || (await versionTold(views)) !== undefined) return;
  const first = await firstLook({ views, log }, cases, pastEnd);
  const published = await lastPublished();
  const begun = published === 0 ? [versionToldNow(cases).row] : behindOthers(published);
  await views.commit({
    views: [ANNOUNCEMENTS],
    from: 0,
    to: published > 0 ? first.logEnd : first.casesEnd,
    writes: [
      ...begun.map((row): Write => ({ kind: "upsert", table: TOLD_VERSION, row })),
      ...FIRST_LOOK_GONE,
    ],
    deadLetters: [],
    expected: [NOBODY_HAS_BEGUN],
  });
};

const behindOthers = (published: Sequence): readonly Row[] => [
  TOLD_BY_NO_VERSION,
  { ...TOLD_BEHIND_KEY, rules: String(published) },
];

/**
 * Where the log has lost its end, as after an older copy was brought back, cases would be waited for until it is as long again, and what they hold by then would
 * not be told of. What the log holds is looked at as where all views were lost.
 */
export const goBack = async (
  { views, log }: Pick<BeginDependencies, "views" | "log">,
  cases: Cases,
  position: Sequence,
): Promise<Announced> => {
  // Asked after the position: what was told of was in the log by then.
  const end = await log.lastSequence();
  if (position <= end) return "told";
  const write: Write = { kind: "upsert", table: TOLD_VERSION, row: TOLD_BY_NO_VERSION };
  return record(views, cases, { from: position, to: end, writes: [write] });
};

export const versionTold = async (views: Pick<ViewStore, "load">): Promise<Row | undefined> =>
  (await views.load(TOLD_VERSION, [TOLD_VERSION_KEY]))[0];

export const versionToldNow = ({ version }: Cases): Write & { readonly kind: "upsert" } => ({
  kind: "upsert",
  table: TOLD_VERSION,
  row: { ...TOLD_VERSION_KEY, rules: String(version) },
});
