/**
 * Tells others what becomes of duties. Reads the log behind the view of cases, and looks at what falls due with time. Publishes first and records it then, in one
 * transaction with its position: who is killed in between publishes the same again, with the same id, which the stream takes once. Several announcers may run: of those
 * that tell the same thing one records it, and the others rest.
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { factOf } from "../../cases/fact.ts";
import { eventFacts, type JsonObject } from "../../event/facts.ts";
import { timeKey } from "../../event/formats.ts";
import { ANNOUNCE_MS, ANNOUNCE_RECORDS, ANNOUNCE_STANDBY_MS } from "../../limits.ts";
import type { LogReader, StoredMessage } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { decodeRecord } from "../../log/record.ts";
import type { Obligation, Rules } from "../../obligations/clocks.ts";
import { deadlineOf } from "../../obligations/deadlines.ts";
import { OBLIGATION_STATES, stateAt } from "../../obligations/state.ts";
import {
  mayTouchDuties,
  nextBoundary,
  type Told,
  type Transition,
  transitionsTo,
} from "../../obligations/transitions.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { type Row, rowText } from "../../views/tables.ts";
import { tenantList } from "../../views/tenant-query.ts";
import type { ViewStore, Write } from "../../views/view-store.ts";
import { findCase } from "../cases/queries.ts";
import { OBLIGATIONS } from "../cases/registers/obligations.ts";
import { OPERATOR } from "../operator.ts";
import { ANNOUNCEMENTS, BOUNDARIES, TOLD } from "./tables.ts";

/** One transition, ready to be sent. */
export interface Announcement {
  readonly tenant: string;
  readonly assetId: string;
  readonly deadline: string;
  readonly transition: Transition;
  /** The same for the same transition, whoever tells it. */
  readonly messageId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface AnnouncerDependencies {
  readonly views: ViewStore;
  readonly log: LogReader;
  readonly rules: Rules;
  /** Resolves when it is stored; rejects where it may not be. */
  readonly publish: (announcement: Announcement) => Promise<void>;
  readonly onAnnounced: (transition: Transition) => void;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Again and again until the signal is aborted. Never rejects. */
export const keepAnnouncing = async (
  dependencies: AnnouncerDependencies,
  signal: AbortSignal,
): Promise<void> => {
  const { logger } = dependencies;
  while (!signal.aborted) {
    let restMs = ANNOUNCE_MS;
    try {
      if ((await announce(dependencies, signal)) === "superseded") restMs = ANNOUNCE_STANDBY_MS;
    } catch (error) {
      if (!signal.aborted) logger.warn("duties were not announced, trying again", { detail: String(error) });
    }
    await delay(restMs, undefined, { signal }).catch(() => undefined);
  }
};

/** Everything there is to tell now. */
export const announce = async (
  dependencies: AnnouncerDependencies,
  signal: AbortSignal,
): Promise<"told" | "superseded"> => {
  const { views, log } = dependencies;
  const end = await views.position("cases");
  // What happened before there was an announcer is told of when it changes.
  if ((await views.open(ANNOUNCEMENTS)) !== "kept") {
    await views.commit({ views: [ANNOUNCEMENTS], from: 0, to: end, writes: [], deadLetters: [] });
  }
  let position = await views.position(ANNOUNCEMENTS.name);
  if (position < end) {
    const reading = new AbortController();
    const either = AbortSignal.any([signal, reading.signal]);
    const options = { from: position + 1, messagesMax: ANNOUNCE_RECORDS, signal: either };
    for await (const messages of log.follow(options)) {
      const some = messages.filter(({ sequence }) => sequence <= end);
      const to = some.at(-1)?.sequence ?? position;
      const found = await obligationsTouched(dependencies, some);
      if ((await tell(dependencies, found, { from: position, to })) === "superseded") return "superseded";
      position = to;
      if (position >= end) break;
    }
    reading.abort();
  }
  const { owned, gone } = await obligationsAtBoundary(dependencies);
  return tell(dependencies, owned, { from: position, to: position }, gone);
};

interface Owned {
  readonly tenant: string;
  readonly obligation: Obligation;
}

const obligationsTouched = async (
  { views, rules }: AnnouncerDependencies,
  messages: readonly StoredMessage[],
): Promise<readonly Owned[]> => {
  const found = new Map<string, Owned>();
  for (const { sequence, payload } of messages) {
    const record = decodeRecord(payload);
    const event: JsonObject = record ? JSON.parse(record.eventText) : {};
    const facts = eventFacts(event);
    if (!record || !facts) continue;
    const fact = factOf(facts, sequence);
    if (!mayTouchDuties(fact)) continue;
    const { tenant } = record;
    for (const kind of ["decision", "objection", "incident", "correlation"] as const) {
      const value = fact.links[kind];
      if (value === undefined) continue;
      const known = await findCase(views, tenant, { kind, value, rules });
      for (const obligation of known?.obligations ?? [])
        found.set(JSON.stringify([tenant, obligation.id]), { tenant, obligation });
      break;
    }
  }
  return [...found.values()];
};

/** Those whose state changes by time, found by their own boundary and looked at in their case; and boundaries of duties that late events took away. */
const obligationsAtBoundary = async ({
  views,
  rules,
  now,
}: AnnouncerDependencies): Promise<{ owned: readonly Owned[]; gone: readonly Write[] }> => {
  const rows = await views.select(
    tenantList({
      tenant: OPERATOR,
      table: BOUNDARIES,
      columns: ["owner", "obligation_id"],
      where: [{ kind: "range", column: "at", to: timeKey(now().toISOString()) }],
      orderBy: ["at", "owner", "obligation_id"],
      order: "asc",
      rowsMax: ANNOUNCE_RECORDS,
    }),
  );
  const owned: Owned[] = [];
  const gone: Write[] = [];
  for (const row of rows) {
    const [tenant, id] = [rowText(row, "owner"), rowText(row, "obligation_id")];
    const obligation = await findObligation(views, tenant, id, rules);
    if (obligation) owned.push({ tenant, obligation });
    else {
      const key = { tenant: OPERATOR, owner: tenant, obligation_id: id };
      gone.push({ kind: "delete", table: BOUNDARIES, key });
    }
  }
  return { owned, gone };
};

const findObligation = async (
  views: ViewStore,
  tenant: string,
  id: string,
  rules: Rules,
): Promise<Obligation | undefined> => {
  const [row] = await views.load(OBLIGATIONS, [{ tenant, obligation_id: id }]);
  if (!row) return undefined;
  for (const [kind, column] of LINKS) {
    const value = row[column];
    if (typeof value !== "string") continue;
    const known = await findCase(views, tenant, { kind, value, rules });
    const found = known?.obligations.find((obligation) => obligation.id === id);
    if (found) return found;
  }
  return undefined;
};

const LINKS = [
  ["decision", "decision_id"],
  ["objection", "objection_id"],
  ["incident", "incident_id"],
] as const;

const tell = async (
  { views, rules, publish, onAnnounced, now }: AnnouncerDependencies,
  owned: readonly Owned[],
  { from, to }: { readonly from: Sequence; readonly to: Sequence },
  others: readonly Write[] = [],
): Promise<"told" | "superseded"> => {
  const at = now().toISOString();
  const known = await views.load(
    TOLD,
    owned.map(({ tenant, obligation }) => ({ tenant, obligation_id: obligation.id })),
  );
  const toldOf = new Map(known.map((row) => [JSON.stringify([row.tenant, row.obligation_id]), toldIn(row)]));
  const writes: Write[] = [...others];
  for (const { tenant, obligation } of owned) {
    const told: Told = { state: stateAt(obligation, timeKey(at)), dueAt: obligation.dueAt };
    for (const transition of transitionsTo(told, toldOf.get(JSON.stringify([tenant, obligation.id])))) {
      await publish(announcementOf({ tenant, obligation, told, transition, rules, at }));
      onAnnounced(transition);
    }
    writes.push(...recordOf(tenant, obligation.id, told));
  }
  const commit = { views: [ANNOUNCEMENTS], from, to, writes, deadLetters: [] };
  if (from === to && writes.length === 0) return "told";
  const { kind } = await views.commit(commit);
  return kind === "committed" ? "told" : "superseded";
};

const toldIn = (row: Row): Told => {
  const state = OBLIGATION_STATES.find((each) => each === row.state);
  return { state: state ?? "open", dueAt: rowText(row, "due_at") };
};

const recordOf = (tenant: string, obligationId: string, told: Told): readonly Write[] => {
  const boundary = nextBoundary(told);
  const key = { tenant: OPERATOR, owner: tenant, obligation_id: obligationId };
  return [
    {
      kind: "upsert",
      table: TOLD,
      row: { tenant, obligation_id: obligationId, state: told.state, due_at: told.dueAt },
    },
    boundary === undefined
      ? { kind: "delete", table: BOUNDARIES, key }
      : { kind: "upsert", table: BOUNDARIES, row: { ...key, at: boundary } },
  ];
};

const announcementOf = (parts: {
  tenant: string;
  obligation: Obligation;
  told: Told;
  transition: Transition;
  rules: Rules;
  at: string;
}): Announcement => {
  const { tenant, obligation, told, transition, rules, at } = parts;
  const { id, deadline, startedBy, startedAt, dueAt, stoppedBy } = obligation;
  const rule = deadlineOf(rules.deadlines, deadline);
  const identity = JSON.stringify([tenant, id, transition, told.state, dueAt]);
  return {
    tenant,
    assetId: startedBy.asset,
    deadline,
    transition,
    messageId: createHash("sha256").update(identity).digest("base64url"),
    payload: {
      tenant,
      obligation_id: id,
      transition,
      state: told.state,
      deadline,
      duty: rule?.duty ?? null,
      law: rule?.law ?? null,
      clause: rule?.clause ?? null,
      asset_id: startedBy.asset,
      subject_hash: startedBy.subject ?? null,
      decision_id: obligation.decisionId ?? null,
      objection_id: obligation.objectionId ?? null,
      incident_id: obligation.incidentId ?? null,
      started_at: `${startedAt}Z`,
      started_by: { event_id: startedBy.id, sequence: startedBy.sequence },
      due_at: `${dueAt}Z`,
      stopped_at: stoppedBy ? `${stoppedBy.at}Z` : null,
      stopped_by: stoppedBy ? { event_id: stoppedBy.id, sequence: stoppedBy.sequence } : null,
      at,
    },
  };
};
