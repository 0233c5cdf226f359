/** Where an announcer begins: if it is the first, if all views were lost, and if the log has lost its end. */
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Row } from "../store/tables.ts";
import type { ViewStore, Write } from "../store/view-store.ts";
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
 * What happened before the first announcer is announced when it changes. If there was an announcer and all views were lost, the same is true of
 * everything in the log: the view of cases is far behind it, and what it will contain was announced before. All duties are looked at once when it has
 * caught up: open ones still fall due in time.
 */
export const begin = async (
  { views, log, lastPublished }: BeginDependencies,
  cases: Cases,
  pastEnd: Sequence | undefined,
): Promise<void> => {
  for (const view of [ANNOUNCEMENT_NOTES, ANNOUNCEMENTS_BEGUN, ANNOUNCEMENTS]) await views.open(view);
  // The version shows that an announcer has begun; views without it may come from one that was killed before.
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
 * If the log has lost its end, as after an older copy was restored, the announcer would wait for cases until the log is as long again, and would not
 * announce what they contain by then. So everything in the log is treated as if all views had been lost.
 */
export const goBack = async (
  { views, log }: Pick<BeginDependencies, "views" | "log">,
  cases: Cases,
  position: Sequence,
): Promise<Announced> => {
  // Asked after the position: what was announced was in the log by then.
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
