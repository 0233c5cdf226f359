/** The bias audits of an asset: which completions of an assessment are audits, and until when each is valid, from everything that was said about it. */
import { isBiasAudit } from "../../law/obligations/bias-audit.ts";
import { isSaidOfCompletion, type SaidEnd } from "../assessments/tables.ts";
import { isLater } from "../kit/latest.ts";
import { AUDIT_ROWS_PER_READ } from "../kit/limits.ts";
import { type List, listRows } from "../kit/list.ts";
import { type Row, rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import { ASSESSMENT_EVENTS, AUDITED } from "./tables.ts";

export const auditedList: List = {
  view: "audits",
  table: AUDITED,
  orderBy: ["assessment_id"],
  filters: ["asset_id"],
};

export const statementList: List = {
  view: "audits",
  table: ASSESSMENT_EVENTS,
  orderBy: ["at", "event_id"],
  filters: ["assessment_id"],
};

/** All of them, because a decision may be of any year. */
export const findBiasAudits = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  assetId: string,
): Promise<readonly BiasAudit[]> => {
  const rowsOf = (list: List, column: string, value: string) =>
    listRows(views, tenant, list, {
      where: [{ kind: "equals", column, value }],
      pageRows: AUDIT_ROWS_PER_READ,
    });
  const audits: BiasAudit[] = [];
  for await (const audited of rowsOf(auditedList, "asset_id", assetId)) {
    const id = rowText(audited, "assessment_id");
    const said = await Array.fromAsync(rowsOf(statementList, "assessment_id", id), statementIn);
    audits.push(...completedAudits(said, { isNamed: id !== assetId }));
  }
  return audits.filter((audit) => audit.assetId === assetId);
};

interface Statement {
  readonly eventId: string;
  readonly at: string;
  readonly assetId: string;
  readonly isStarted: boolean;
  readonly isCompleted: boolean;
  readonly type: string | undefined;
  readonly validUntil: string | undefined;
}

const statementIn = (row: Row): Statement => ({
  eventId: rowText(row, "event_id"),
  at: rowText(row, "at"),
  assetId: rowText(row, "asset_id"),
  isStarted: row.is_started === 1,
  isCompleted: row.is_completed === 1,
  type: row.assessment_type === null ? undefined : rowText(row, "assessment_type"),
  validUntil: row.valid_until === null ? undefined : rowText(row, "valid_until"),
});

export interface BiasAudit {
  readonly eventId: string;
  readonly at: string;
  readonly assetId: string;
  readonly validUntil: string | undefined;
}

/** `type` is undefined as long as no event stated it. */
interface Completed {
  readonly event: Statement;
  readonly type: string | undefined;
}

/** `isNamed`: it has a name of its own, and not that of its asset, under which several may stand. In any order. */
const completedAudits = (
  said: readonly Statement[],
  { isNamed }: { readonly isNamed: boolean },
): readonly BiasAudit[] => {
  const audits: BiasAudit[] = [];
  /** The completions at the latest time so far; later statements belong to them. */
  let last: readonly Completed[] = [];
  /** From then on what is said is said of the next one. */
  let isBegunAnew = false;
  let [completedAt, completedBefore]: [string | undefined, string | undefined] = [undefined, undefined];
  let end: SaidEnd | undefined;
  let type: string | undefined;
  const close = (): void => {
    for (const { event, type: of } of last) {
      if (!isBiasAudit(of)) continue;
      const { eventId, at, assetId } = event;
      const validUntil = end && isSaidOfCompletion(end, at, completedBefore) ? end.until : undefined;
      audits.push({ eventId, at, assetId, validUntil });
    }
  };
  // Nobody knows which of the events of one time came first.
  for (const together of Map.groupBy(said.toSorted(asSaid), ({ at }) => at).values()) {
    const stated = together.findLast((event) => event.type !== undefined)?.type;
    type = stated ?? type;
    const completed = together.filter(({ isCompleted }) => isCompleted);
    if (completed.length > 0) {
      close();
      isBegunAnew = false;
      [completedAt, completedBefore] = [together[0]?.at, completedAt];
      last = completed.map((event) => ({ event, type: event.type ?? type }));
    } else if (together.some(({ isStarted }) => isStarted)) {
      isBegunAnew = true;
      last = last.filter((each) => each.type !== undefined);
    } else {
      // An update says anew what was completed, or is the first to say it.
      const isCorrection = isNamed && !isBegunAnew;
      last = last.map((each) => ({
        ...each,
        type: isCorrection ? (stated ?? each.type) : (each.type ?? stated),
      }));
    }
    // What it is may be said later than until when it is valid; another assessment of the same asset has an end of its own.
    for (const event of together) {
      const of = event.type ?? type;
      const isOfAnother = !isNamed && of !== undefined && !isBiasAudit(of);
      if (event.validUntil === undefined || isOfAnother) continue;
      end = { until: event.validUntil, at: event.at, isByCompletion: event.isCompleted };
    }
  }
  close();
  return audits;
};

/** Equal times are ordered as in the register of assessments: a database orders ids by their bytes. */
const asSaid = (one: Statement, other: Statement): number =>
  isLater([one, one.at, one.eventId], [other, other.at, other.eventId]) ? 1 : -1;
