/** The opposite of the other clocks: the notice comes first, and the decision must not come too early. Pure. */

import { timeKey } from "../../event/formats.ts";
import { type Case, type Decision, type Notice, noticeBefore } from "../cases/case.ts";
import { type Fact, inOrder, timeOf } from "../cases/fact.ts";
import { type Deadline, deadlineOf, namedBases } from "./deadline-table.ts";
import { isRecordedAfter, lastDayBegins } from "./due-date.ts";
import { isInForce, type Obligation, obligation, type Rules } from "./obligation.ts";

const NONE: readonly never[] = [];

export const noticeClocks = ({ decisions, notices }: Case, rules: Rules): readonly Obligation[] => {
  const rule = deadlineOf(rules.deadlines, "LL144-NOTICE");
  if (!rule) return NONE;
  const found: Obligation[] = [];
  // A notice that stands in a case of its own must not name a row of this one.
  const unused = new Set(notices.map(({ shown }) => shown));
  for (const decision of decisions.toSorted(byMade)) {
    const start = decision.made ?? decision.notices[0];
    if (!start || !isInForce(rule, start.at, { by: start, named: namedBases(decision.bases) })) continue;
    const notice = noticeBefore(decision);
    const isNamedByNotice = notice === undefined || unused.delete(notice);
    const { id, made } = decision;
    const row = noticeObligation({ rule, decisionId: id, made, notice, thing: decision.facts }, rules);
    if (row && isNamedByNotice) found.push(row);
    // One notice may serve several decisions, each of which is an obligation of its own once it is made.
    else if (row && made) found.push({ ...row, id: `${rule.id}:${made.id}` });
  }
  for (const thing of undecidedNotices(decisions, notices)) {
    const [notice] = thing;
    if (!notice) continue;
    if (!isInForce(rule, notice.at, { by: notice, named: namedBases(notice.bases ?? []) })) continue;
    const row = noticeObligation({ rule, decisionId: undefined, made: undefined, notice, thing }, rules);
    if (row) found.push(row);
  }
  return found;
};

const byMade = (one: Decision, other: Decision): number =>
  one.made && other.made ? inOrder(one.made, other.made) : Number(!one.made) - Number(!other.made);

/**
 * The notices about each system to each person under each correlation that belong to no decision yet, in order: the first counts. A notice that names neither
 * a decision nor a correlation is a case of its own, which its mark says.
 */
const undecidedNotices = (
  decisions: readonly Decision[],
  notices: readonly Notice[],
): readonly (readonly Fact[])[] => {
  if (notices.every(({ shown }) => shown?.bases === undefined)) return NONE;
  const decided = new Set(decisions.flatMap((decision) => decision.notices));
  // Under a correlation of several decisions the notice is linked to none of them, and waits for none.
  const withDecision = new Set(decisions.flatMap(({ made }) => made?.links.correlation ?? NONE));
  const waiting = notices
    .flatMap(({ shown }) => shown ?? NONE)
    .filter((shown) => {
      const { correlation } = shown.links;
      if (decided.has(shown)) return false;
      return correlation === undefined ? shown.awaitsDecision : !withDecision.has(correlation);
    });
  const about = ({ asset, subject, links }: Fact) => JSON.stringify([asset, subject, links.correlation]);
  return [...Map.groupBy(waiting, about).values()];
};

const noticeObligation = (
  parts: {
    readonly rule: Deadline;
    readonly decisionId: string | undefined;
    readonly made: Fact | undefined;
    readonly notice: Fact | undefined;
    readonly thing: readonly Fact[];
  },
  rules: Rules,
): Obligation | undefined => {
  const { rule, decisionId, made, notice, thing } = parts;
  const first = notice ?? made;
  if (!first) return undefined;
  const start = { deadline: rule.id, by: first, stop: undefined, named: NONE, about: { decisionId }, thing };
  const known = {
    startedAt: first.at,
    startedRecorded: first.recorded,
    extendedBy: NONE,
    isRecordedLate: false,
  };
  if (!notice) return obligation(start, { ...known, dueAt: first.at, status: "breached" });
  const calendar = { zone: rule.zone, holidays: rules.holidays };
  const earliestDecisionAt = timeKey(lastDayBegins(timeOf(notice), rule.limit, calendar));
  if (!made)
    return {
      ...obligation(start, { ...known, dueAt: earliestDecisionAt, status: "waiting" }),
      earliestDecisionAt,
    };
  const isEarlyEnough = made.at >= earliestDecisionAt;
  return {
    ...obligation(
      { ...start, stop: isEarlyEnough ? made : undefined },
      {
        ...known,
        dueAt: isEarlyEnough ? earliestDecisionAt : made.at,
        status: isEarlyEnough ? "met" : "breached",
        // What meets it is the notice, and it falls due with the decision.
        isRecordedLate: isEarlyEnough && isRecordedAfter(notice, made.at, rules.lateRecordGraceMs),
      },
    ),
    asset: made.asset,
    earliestDecisionAt,
  };
};
