import { Type } from "@sinclair/typebox";
import type { Notice } from "../../../law/cases/notices.ts";
import type { List } from "../../kit/list.ts";
import { NULLABLE_TEXT, type Row, type RowOf, type Table, TEXT } from "../../store/tables.ts";
import type { CaseView } from "../case-view.ts";
import { CASES_VIEW } from "../tables.ts";
import { type Register, rowsOfEach } from "./register.ts";

/**
 * The transparency register (DOMAIN 3.5). Nearly every decision has a notice, so a row contains only what its own events say: nothing that changes
 * when the decision arrives, and no state, which follows from the times.
 */
export const NOTICES = {
  name: "notices",
  columns: {
    tenant: TEXT,
    /** The event that showed it; if it was never shown, the event that dismissed or acknowledged it. */
    notice_id: TEXT,
    asset_id: TEXT,
    subject_hash: NULLABLE_TEXT,
    correlation_id: NULLABLE_TEXT,
    decision_id: NULLABLE_TEXT,
    channel: NULLABLE_TEXT,
    locale: NULLABLE_TEXT,
    policy_version: NULLABLE_TEXT,
    at: TEXT,
    shown_at: NULLABLE_TEXT,
    shown_recorded_at: NULLABLE_TEXT,
    dismissed_at: NULLABLE_TEXT,
    dismissed_recorded_at: NULLABLE_TEXT,
    acknowledged_at: NULLABLE_TEXT,
    acknowledged_recorded_at: NULLABLE_TEXT,
  },
  primaryKey: ["tenant", "at", "notice_id"],
  indexes: [["tenant", "asset_id", "at", "notice_id"]],
} as const satisfies Table;

const rowOf = ({ tenant }: CaseView, notice: Notice): RowOf<typeof NOTICES> | undefined => {
  const { id, shown, dismissed, acknowledged } = notice;
  const first = shown ?? dismissed ?? acknowledged;
  if (!first) return undefined;
  const { links, says } = first;
  return {
    tenant,
    notice_id: id,
    asset_id: first.asset,
    subject_hash: first.subject ?? null,
    correlation_id: links.correlation ?? null,
    decision_id: links.decision ?? null,
    channel: says.channel ?? null,
    locale: says.locale ?? null,
    policy_version: says.policy_version ?? null,
    at: first.at,
    shown_at: shown?.at ?? null,
    shown_recorded_at: shown?.recorded ?? null,
    dismissed_at: dismissed?.at ?? null,
    dismissed_recorded_at: dismissed?.recorded ?? null,
    acknowledged_at: acknowledged?.at ?? null,
    acknowledged_recorded_at: acknowledged?.recorded ?? null,
  };
};

export const noticesRegister: Register = {
  table: NOTICES,
  kind: "rows",
  rowsOf: (view) => rowsOfEach(view, view.is.notices, rowOf),
};

export const NOTICE_STATES = ["shown", "dismissed", "acknowledged", "orphan"] as const;
export type NoticeState = (typeof NOTICE_STATES)[number];

const stateOf = ({ shown_at, dismissed_at, acknowledged_at }: Row): NoticeState => {
  if (shown_at === null) return "orphan";
  if (acknowledged_at !== null) return "acknowledged";
  return dismissed_at === null ? "shown" : "dismissed";
};

export const noticeList: List = {
  view: CASES_VIEW,
  table: NOTICES,
  orderBy: ["at", "notice_id"],
  time: "when it was shown; of one that was never shown, when it was dismissed or acknowledged",
  filters: ["asset_id"],
  checked: ["subject_hash", "decision_id", "state"],
  values: { state: NOTICE_STATES },
  hidden: ["at"],
  about: {
    notice_id: "The event that showed it; of an `orphan` the event that dismissed or acknowledged it.",
    subject_hash: "Who was told; null where it was shown to everybody, or the event names nobody.",
    decision_id:
      "Where the notice itself names one; `notice_at` in the register of decisions also finds others.",
    channel: "`metadata.channel`, `notice_channel` or `delivery_method`.",
    locale: "`metadata.locale`: the language it was shown in.",
    policy_version: "`metadata.policy_version`: of the policy that it tells of.",
    correlation_id: "By which the case of the notice is found: `GET /v1/cases/{correlation_id}`.",
    shown_at: "`transparency.notice_shown` or `disclosure_shown`.",
    dismissed_at: "The first `transparency.notice_dismissed`.",
    acknowledged_at: "The first `disclosure_acknowledged`.",
  },
  derived: {
    state: {
      schema: Type.Union(
        NOTICE_STATES.map((state) => Type.Literal(state)),
        { description: "`orphan` where nothing in the log shows it." },
      ),
      of: stateOf,
    },
  },
};
