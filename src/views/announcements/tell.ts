/** Announces a page of duties, in steps between any of which it may be killed: writes down what it begins, publishes it, and records it. */
import { timeKey } from "../../event/formats.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import type { Current, Transition } from "../../law/obligations/transitions.ts";
import type { Sequence } from "../../log/outcome.ts";
import { stateOfRow } from "../cases/registers/obligations.ts";
import { isSameRow } from "../store/stored-rows.ts";
import { rowText } from "../store/tables.ts";
import type { Expectation, ViewStore, Write } from "../store/view-store.ts";
import { beginningOf, type Duty, keyOf, loadKnown, recordOf } from "./known-duties.ts";
import { type Cases, revisionOfCases } from "./looked-at-cases.ts";
import { ANNOUNCEMENTS, BEGUN, TOLD_BEHIND_KEY, TOLD_VERSION } from "./tables.ts";
import { type Announcement, announcementsOf, tellingOf } from "./telling.ts";

export type Announced =
  | "told"
  /** Another announcer has recorded it, or has published meanwhile. */
  | "superseded"
  /** Cases were rebuilt meanwhile, or took a dead letter, or another announcer has begun to tell of the same: what was read is not to be relied on, and is looked at anew. */
  | "outdated";

export interface TellDependencies {
  readonly views: Pick<ViewStore, "load" | "commit">;
  readonly rules: Rules;
  /**
   * `stored` when all of them are stored, in this order, after `after`; `overtaken` if another announcer has published something after it. Rejects if
   * one of them may not be stored.
   */
  readonly publish: (
    announcements: readonly Announcement[],
    after: Sequence,
  ) => Promise<"stored" | "overtaken">;
  /** The sequence in the stream of the newest message that any announcer published; 0 if there is none. */
  readonly lastPublished: () => Promise<Sequence>;
  readonly onAnnounced: (transition: Transition) => void;
  readonly now: () => Date;
}

export interface Page {
  readonly duties: readonly Duty[];
  /** The announcer's position before and after the page. */
  readonly from: Sequence;
  readonly to: Sequence;
  /** Other changes to record with it. */
  readonly others?: readonly Write[];
}

export const tell = async (
  dependencies: TellDependencies,
  cases: Cases,
  { duties, from, to, others = [] }: Page,
): Promise<Announced> => {
  const { views, publish, lastPublished, onAnnounced } = dependencies;
  // Read before the known announcements: if this announcer is paused from here on while another one announces more, its messages are refused.
  const after = duties.length > 0 ? await lastPublished() : 0;
  const found = await toTell(dependencies, duties);
  if (!found) return "superseded";
  const { announcements, begins, expected } = found;
  const writes = [...others, ...found.writes];
  if (announcements.length > 0) {
    // A published message cannot be taken back.
    if (!isSameRow(await revisionOfCases(views), cases.revision.row)) return "outdated";
    const beginning = { from, to: from, writes: begins, expected };
    const begun = begins.length > 0 ? await record(views, cases, beginning) : "told";
    if (begun !== "told") return begun;
    if ((await publish(announcements, after)) === "overtaken") return "superseded";
  }
  for (const { transition } of announcements) onAnnounced(transition);
  if (from === to && writes.length === 0) return "told";
  return record(views, cases, { from, to, writes });
};

interface ToTell {
  readonly announcements: readonly Announcement[];
  /** Written before publishing. */
  readonly begins: readonly Write[];
  /** With those: of what two have begun at once the later would not know that the other's may be in the stream. */
  readonly expected: readonly Expectation[];
  /** Written after publishing. */
  readonly writes: readonly Write[];
}

/** Undefined if another announcer is announcing the same. */
const toTell = async (
  { views, rules, now }: TellDependencies,
  duties: readonly Duty[],
): Promise<ToTell | undefined> => {
  const at = now().toISOString();
  const atKey = timeKey(at);
  const behind = duties.length > 0 ? await toldBehind(views) : undefined;
  const knownOf = await loadKnown(
    views,
    duties.map(({ id }) => id),
  );
  if (!knownOf) return undefined;
  const announcements: Announcement[] = [];
  const begins: Write[] = [];
  const expected: Expectation[] = [];
  const writes: Write[] = [];
  for (const { id, row } of duties) {
    const told: Current = {
      state: stateOfRow(row, atKey),
      dueAt: rowText(row, "due_at"),
      isRecordedLate: row.recorded_late === 1,
    };
    const known = knownOf(id);
    const telling = tellingOf(told, known);
    announcements.push(...announcementsOf({ row, told, telling, behind, rules, at }));
    if (telling.isNew) {
      begins.push(beginningOf(id, told, telling));
      expected.push(known.asRead);
    }
    if (telling.isNew || known.begun) writes.push({ kind: "delete", table: BEGUN, key: keyOf(id) });
    writes.push(...recordOf({ id, row }, { told, tellings: telling.number + 1, now: atKey }));
  }
  return { announcements, begins, expected, writes };
};

/** Rows, and the position, as long as cases are those that were looked at, and rows stand as expected. */
export const record = async (
  views: Pick<ViewStore, "commit">,
  { revision }: Cases,
  changes: {
    readonly from: Sequence;
    readonly to: Sequence;
    readonly writes: readonly Write[];
    readonly expected?: readonly Expectation[];
  },
): Promise<Announced> => {
  const { expected = [] } = changes;
  const commit = { views: [ANNOUNCEMENTS], ...changes, deadLetters: [], expected: [revision, ...expected] };
  const { kind } = await views.commit(commit);
  if (kind === "committed") return "told";
  return kind === "outdated" ? kind : "superseded";
};

const toldBehind = async (views: Pick<ViewStore, "load">): Promise<string | undefined> => {
  const [row] = await views.load(TOLD_VERSION, [TOLD_BEHIND_KEY]);
  return row && rowText(row, "rules");
};
