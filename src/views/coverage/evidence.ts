/**
 * Events that are evidence of a duty: the newest ones by their own times, found in the registers by index. Of decisions, clocks and labels only the
 * newest of an asset are searched. Events that expired with their case are not found, although they count.
 */
import { BIAS_AUDIT } from "../../law/obligations/bias-audit.ts";
import { ANY_LAW, clocksOf } from "../../law/obligations/deadline-table.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { findAsset } from "../assets/tables.ts";
import { findBiasAudits } from "../audits/queries.ts";
import { decisionList } from "../cases/registers/decisions.ts";
import { obligationList } from "../cases/registers/obligations.ts";
import { isLater, type Latest } from "../kit/latest.ts";
import { EVIDENCE_ROWS_MAX } from "../kit/limits.ts";
import { type List, listQuery } from "../kit/list.ts";
import { OUTCOME_LABELS } from "../outcomes/evolve.ts";
import { type Row, rowText } from "../store/tables.ts";
import { tenantList } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";
import type { DutyCount } from "./duty-counts.ts";

export interface Evidence {
  readonly at: string;
  readonly eventId: string;
}

export const createEvidence = (
  views: Pick<ViewStore, "load" | "select">,
  tenant: string,
  { deadlines }: Rules,
) => {
  const newest = (list: List) =>
    once(async (assetId) => views.select(newestQuery(tenant, list, { assetId, rowsMax: EVIDENCE_ROWS_MAX })));
  const decisions = newest(decisionList);
  const clocks = newest(obligationList);
  const audits = once((assetId) => findBiasAudits(views, tenant, assetId));

  const all = async ({ asset_id: assetId, law, duty }: DutyCount): Promise<readonly Evidence[]> => {
    const ids: readonly string[] = clocksOf(deadlines, law, duty).map(({ id }) => id);
    if (ids.length > 0)
      return (await clocks(assetId)).flatMap((row) =>
        ids.includes(rowText(row, "rule")) ? ofClock(row) : [],
      );
    switch (duty) {
      case "notice":
        return (await decisions(assetId)).flatMap((row) => ofNotice(row, law));
      case "labeling":
        return (await views.select(labelsQuery(tenant, assetId))).map(ofRow);
      case "lifecycle":
        return ofLife(await findAsset(views, tenant, assetId));
      case BIAS_AUDIT.duty:
        return audits(assetId);
      default:
        return [];
    }
  };

  return {
    audits,
    of: async (count: DutyCount): Promise<readonly Evidence[]> => {
      const found = (await all(count)).toSorted((one, other) =>
        isLater(["", one.at, one.eventId], ["", other.at, other.eventId]) ? -1 : 1,
      );
      // One notice may cover several decisions.
      return found
        .filter(({ eventId }, index) => eventId !== found[index - 1]?.eventId)
        .slice(0, EVIDENCE_ROWS_MAX);
    },
  };
};

const once = <Found>(ask: (assetId: string) => Promise<Found>): ((assetId: string) => Promise<Found>) => {
  const asked = new Map<string, Promise<Found>>();
  return (assetId) => {
    const known = asked.get(assetId);
    if (known) return known;
    const answer = ask(assetId);
    asked.set(assetId, answer);
    return answer;
  };
};

export const newestQuery = (
  tenant: string,
  list: List,
  { assetId, rowsMax }: { readonly assetId: string; readonly rowsMax: number },
) =>
  listQuery(tenant, list, {
    where: [{ kind: "equals", column: "asset_id", value: assetId }],
    order: "desc",
    rowsMax,
  });

export const labelsQuery = (tenant: string, assetId: string) =>
  tenantList({
    tenant,
    table: OUTCOME_LABELS,
    columns: ["at", "event_id"],
    where: [{ kind: "equals", column: "asset_id", value: assetId }],
    orderBy: ["at", "event_id"],
    order: "desc",
    rowsMax: EVIDENCE_ROWS_MAX,
  });

const ofRow = (row: Row): Evidence => ({ at: rowText(row, "at"), eventId: rowText(row, "event_id") });

/** The event that met the duty. For a notice it is the event that started the clock, because the decision stops it. */
const ofClock = (row: Row): readonly Evidence[] => {
  if (row.stopped_by === null || row.stopped_at === null) return [];
  const [at, eventId] =
    row.rule === "LL144-NOTICE" ? ["started_at", "started_by"] : ["stopped_at", "stopped_by"];
  return [{ at: rowText(row, at), eventId: rowText(row, eventId) }];
};

/** The notice at or before a decision that was made; no other decisions are counted. */
const ofNotice = (row: Row, law: string): readonly Evidence[] => {
  if (row.made_at === null || row.notice_at === null || row.notice_event_id === null) return [];
  const bases: readonly string[] = JSON.parse(rowText(row, "legal_bases"));
  if (law !== ANY_LAW && !bases.includes(law)) return [];
  return [{ at: rowText(row, "notice_at"), eventId: rowText(row, "notice_event_id") }];
};

const ofLife = (row: Row | undefined): readonly Evidence[] => {
  if (row === undefined) return [];
  const said: Latest = JSON.parse(rowText(row, "said"));
  const found = new Map<string, Evidence>();
  for (const each of [said.created_at, said.version])
    if (each !== undefined) found.set(each[2], { at: each[1], eventId: each[2] });
  return [...found.values()];
};
