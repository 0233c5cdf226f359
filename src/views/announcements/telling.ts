/**
 * Decides what to announce of a duty, and under which number: from what is recorded of it, and from what was begun and may or may not be in the
 * stream. Pure.
 */
import { createHash } from "node:crypto";
import { deadlineOf } from "../../law/obligations/deadlines.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import {
  type Current,
  type Told,
  type Transition,
  transitionsTo,
  transitionTo,
} from "../../law/obligations/transitions.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";

interface Begun extends Told {
  readonly number: number;
}

export interface Telling {
  /** In this order; none if there is nothing to announce. */
  readonly transitions: readonly Transition[];
  /** Part of the ids: a state that occurs again is announced again, even within the stream's duplicate window. */
  readonly number: number;
  /**
   * Whether `open` is the message that opens the duty. It has one id, whatever has become of the duty when it is announced: an earlier attempt may
   * have stored it.
   */
  readonly opens: boolean;
  /** Whether it was not begun before. */
  readonly isNew: boolean;
}

export const tellingOf = (
  now: Current,
  known: {
    readonly before: Told | undefined;
    readonly begun: Begun | undefined;
    /** How often an announcement was recorded. */
    readonly tellings: number;
  },
): Telling => {
  const { before, begun, tellings } = known;
  if (!begun) {
    const transitions = transitionsTo(now, before);
    return { transitions, number: tellings, opens: before === undefined, isNew: transitions.length > 0 };
  }
  const isSame = begun.state === now.state && begun.dueAt === now.dueAt;
  const number = isSame ? begun.number : Math.max(begun.number + 1, tellings);
  // The begun announcement may be the newest message, so the current state is announced after it, even if that state was announced before.
  const transitions = before === undefined ? transitionsTo(now, undefined) : [transitionTo(now, before)];
  const opens = before === undefined && (transitions.length > 1 || number === 0);
  return { transitions, number, opens, isNew: !isSame };
};

/** One transition, ready to be published. */
export interface Announcement {
  readonly tenant: string;
  readonly assetId: string;
  readonly rule: string;
  readonly transition: Transition;
  /** The same for the same transition, whoever announces it. */
  readonly messageId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The messages of an announcement, in their order. */
export const announcementsOf = (parts: AnnouncementParts): readonly Announcement[] =>
  parts.telling.transitions.map((transition) => announcementOf(transition, parts));

interface AnnouncementParts {
  /** A row of OBLIGATIONS. */
  readonly row: Row;
  readonly told: Told;
  readonly telling: Telling;
  /** If others announced before and their numbers are lost: what distinguishes the new ids from theirs. */
  readonly behind: string | undefined;
  readonly rules: Rules;
  readonly at: string;
}

const announcementOf = (
  transition: Transition,
  { row, told, telling, behind, rules, at }: AnnouncementParts,
): Announcement => {
  const [tenant, obligationId] = [rowText(row, "tenant"), rowText(row, "obligation_id")];
  const [assetId, rule] = [rowText(row, "asset_id"), rowText(row, "rule")];
  const deadline = deadlineOf(rules.deadlines, rule);
  const said =
    transition === "open" && telling.opens
      ? [tenant, obligationId, transition, told.dueAt]
      : [tenant, obligationId, transition, told.state, told.dueAt, telling.number];
  const identified = JSON.stringify(behind === undefined ? said : [...said, { behind }]);
  return {
    tenant,
    assetId,
    rule,
    transition,
    messageId: createHash("sha256").update(identified).digest("base64url"),
    payload: {
      tenant,
      obligation_id: obligationId,
      transition,
      state: told.state,
      rule,
      duty: deadline?.duty ?? null,
      law: deadline?.law ?? null,
      clause: deadline?.clause ?? null,
      asset_id: assetId,
      subject_hash: row.subject_hash ?? null,
      decision_id: row.decision_id ?? null,
      objection_id: row.objection_id ?? null,
      incident_id: row.incident_id ?? null,
      started_at: `${rowText(row, "started_at")}Z`,
      started_by: { event_id: rowText(row, "started_by"), sequence: rowInteger(row, "started_sequence") },
      started_recorded_at: timeIn(row, "started_recorded_at"),
      due_at: `${told.dueAt}Z`,
      extended_recorded_at: timeIn(row, "extended_recorded_at"),
      earliest_decision_at: timeIn(row, "earliest_decision_at"),
      stopped_at: timeIn(row, "stopped_at"),
      stopped_recorded_at: timeIn(row, "stopped_recorded_at"),
      stopped_by:
        typeof row.stopped_by === "string"
          ? { event_id: row.stopped_by, sequence: rowInteger(row, "stopped_sequence") }
          : null,
      recorded_late: row.recorded_late === 1,
      waived_at: timeIn(row, "waived_at"),
      waived_by: row.waived_by ?? null,
      waived_reason: row.waived_reason ?? null,
      at,
    },
  };
};

const timeIn = (row: Row, name: string): string | null => {
  const at = row[name];
  return typeof at === "string" ? `${at}Z` : null;
};
