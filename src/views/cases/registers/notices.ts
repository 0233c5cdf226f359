import { Type } from "@sinclair/typebox";
import type { Notice } from "../../../law/cases/case.ts";
import type { Fact } from "../../../law/cases/fact.ts";
import type { List } from "../../kit/list.ts";
import { columnsOf } from "../../kit/read-model.ts";
import type { Row } from "../../store/tables.ts";
import { CASES_VIEW } from "../tables.ts";
import { registerOf } from "./register.ts";

interface Entry extends Notice {
  readonly first: Fact;
}

const { optional, text, times } = columnsOf<Entry>();

/**
 * The transparency register (DOMAIN 3.5). Nearly every decision has a notice, so a row contains only what its own events say: nothing that changes
 * when the decision arrives, and no state, which follows from the times.
 */
export const noticesRegister = registerOf<Entry>({
  name: "notices",
  thingsIn: ({ is }) =>
    is.notices.flatMap((notice) => {
      const first = notice.shown ?? notice.dismissed ?? notice.acknowledged;
      return first ? [{ ...notice, first }] : [];
    }),
  columns: {
    notice_id: text(({ id }) => id),
    asset_id: text(({ first }) => first.asset),
    subject_hash: optional(({ first }) => first.subject),
    correlation_id: optional(({ first }) => first.links.correlation),
    decision_id: optional(({ first }) => first.links.decision),
    channel: optional(({ first }) => first.says.channel),
    locale: optional(({ first }) => first.says.locale),
    policy_version: optional(({ first }) => first.says.policy_version),
    at: text(({ first }) => first.at),
    ...times("shown", ({ shown }) => shown),
    ...times("dismissed", ({ dismissed }) => dismissed),
    ...times("acknowledged", ({ acknowledged }) => acknowledged),
  },
  primaryKey: ["tenant", "at", "notice_id"],
  indexes: [["tenant", "asset_id", "at", "notice_id"]],
});

export const NOTICES = noticesRegister.table;

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
    subject_hash: "Who saw it; null where it was shown to everybody, or the event names nobody.",
    decision_id:
      "Where the notice itself names one; `notice_at` in the register of decisions also finds others.",
    channel: "`metadata.channel`, `notice_channel` or `delivery_method`.",
    locale: "`metadata.locale`: the language it was shown in.",
    policy_version: "`metadata.policy_version`: of the policy that it cites.",
    correlation_id: "Finds the case of the notice: `GET /v1/cases/{correlation_id}`.",
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
