/**
 * Publishes the transitions of obligations, through an outbox: one commit says what was notified and holds the messages, which are published under ids
 * from their content, then deleted. So a kill repeats ids, which the stream takes once within its window. Each commit is kept only if its basis stands.
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { obligationSubject } from "../../../streams/subjects.ts";
import { timeKey } from "../../event/formats.ts";
import {
  OBLIGATION_STATES,
  type Rules,
  TRANSITIONS,
  type Transition,
  transitionsTo,
} from "../../law/obligations/obligation.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { createRepeatFilter } from "../../telemetry/repeat-filter.ts";
import {
  agendaQuery,
  CHANGED,
  DUTY_AGENDA,
  NEVER,
  nextChangeOf,
  OBLIGATIONS,
  obligationEntry,
  stateOfRow,
} from "../cases/registers/obligations.ts";
import { CASES_VIEW } from "../cases/tables.ts";
import { OPERATOR } from "../kit/all-tenants.ts";
import { NOTIFIED_DUTIES, NOTIFY_MS } from "../kit/limits.ts";
import { INTEGER, keyText, type Row, rowInteger, rowText, type Table, TEXT } from "../store/tables.ts";
import { tenantList } from "../store/tenant-query.ts";
import {
  type Expectation,
  VIEW_REVISIONS,
  VIEWS,
  type ViewDefinition,
  type ViewStore,
  type Write,
} from "../store/view-store.ts";

/** The state and the time of the last notification of each obligation. Like the outbox no projection: neither follows from the log. */
export const NOTIFIED = {
  name: "obligations_told",
  columns: { tenant: TEXT, obligation_id: TEXT, state: TEXT, due_at: TEXT },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [],
} as const satisfies Table;

const OUTBOX = {
  name: "obligation_outbox",
  columns: {
    tenant: TEXT,
    number: INTEGER,
    owner: TEXT,
    transition: TEXT,
    subject: TEXT,
    /** JSON text. Its hash is the id of the message. */
    payload: TEXT,
  },
  primaryKey: ["tenant", "number"],
  indexes: [],
} as const satisfies Table;

/** Its position is how far the log was notified of. Name, table and version are those of v0.1.0, so that an upgrade notifies of nothing again. */
export const NOTIFIED_VIEW: ViewDefinition = { name: "announcements", version: 1, tables: [NOTIFIED] };

const OUTBOX_VIEW: ViewDefinition = { name: "obligation_outbox", version: 1, tables: [OUTBOX] };

export interface DutyMessage {
  readonly tenant: string;
  readonly subject: string;
  /** The same whenever this message is published. */
  readonly messageId: string;
  readonly payload: string;
}

export interface NotifierDependencies {
  readonly views: ViewStore;
  readonly log: Pick<LogReader, "lastSequence">;
  readonly cases: Pick<ViewDefinition, "version">;
  readonly rules: Rules;
  /** Stores the messages in their order, each of which may be stored already. Rejects if one of them may not be stored. */
  readonly publish: (messages: readonly DutyMessage[]) => Promise<void>;
  /** The sequence in the stream of the newest message that was ever published; 0 if there is none. */
  readonly lastPublished: () => Promise<Sequence>;
  readonly onNotified: (transition: Transition) => void;
  /** Up to here everything was notified of. */
  readonly onPosition: (sequence: Sequence) => void;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Runs until the signal is aborted. Never rejects. `logEnd`: the end of the log before this process took anything; undefined if not known. */
export const keepNotifying = async (
  dependencies: NotifierDependencies,
  { logEnd, signal }: { readonly logEnd: Sequence | undefined; readonly signal: AbortSignal },
): Promise<void> => {
  const { logger } = dependencies;
  const isNews = createRepeatFilter(() => performance.now());
  let pastEnd = logEnd;
  while (!signal.aborted) {
    try {
      await notify(dependencies, signal, pastEnd);
      // If the views are lost again, everything up to then is the past.
      pastEnd = undefined;
    } catch (error) {
      const detail = String(error);
      if (!signal.aborted && isNews(detail))
        logger.warn("publishing obligation changes failed; trying again", { detail });
    }
    await delay(NOTIFY_MS, undefined, { signal }).catch(() => undefined);
  }
};

/** Publishes everything that is due now. `outdated`: another process changed the rows meanwhile, and the rest follows with the next call. */
export const notify = async (
  dependencies: NotifierDependencies,
  signal: AbortSignal,
  pastEnd?: Sequence,
): Promise<"done" | "outdated"> => {
  const { views, log, cases, onPosition } = dependencies;
  await begin(dependencies, pastEnd);
  // Read before the position: if the view of cases is rebuilt later, its revision shows it, and no commit is kept.
  const [row] = await views.load(VIEW_REVISIONS, [CASES_KEY]);
  const revision: Expectation = { table: VIEW_REVISIONS, key: CASES_KEY, row };
  const [view] = await views.load(VIEWS, [CASES_KEY]);
  // Rows of another version answer until this one has built its own, and stand still meanwhile: what they say of the time would be wrong.
  if (view?.version !== cases.version) return "done";
  const end = rowInteger(view, "position");
  const position = await views.position(NOTIFIED_VIEW.name);
  if (end < position) {
    // A view of cases that is being rebuilt does not hold all obligations yet. If the log itself has lost its end, new records begin from there.
    const last = await log.lastSequence();
    if (position > last) await commit(views, { from: position, to: last, writes: [], expected: [revision] });
    return "done";
  }
  while (!signal.aborted) {
    const page = await nextPage(dependencies, position);
    const to = page.isLast ? end : position;
    const isChanged = page.writes.length > 0 || to > position;
    const expected = [revision, ...page.expected];
    if (isChanged && !(await commit(views, { from: position, to, writes: page.writes, expected })))
      return "outdated";
    if (!page.isLast) continue;
    if (!(await publishOutbox(dependencies, signal))) return "outdated";
    onPosition(end);
    return "done";
  }
  return "done";
};

const CASES_KEY = { name: CASES_VIEW };

/**
 * If others have published and all views were lost, the view of cases finds everything in the log again. What was in it before is the past, and is
 * notified of when it changes or its time comes.
 */
const begin = async (
  { views, log, lastPublished }: NotifierDependencies,
  pastEnd: Sequence | undefined,
): Promise<void> => {
  for (const view of [OUTBOX_VIEW, NOTIFIED_VIEW]) await views.open(view);
  if ((await views.position(NOTIFIED_VIEW.name)) > 0 || (await lastPublished()) === 0) return;
  await commit(views, { from: 0, to: pastEnd ?? (await log.lastSequence()), writes: [], expected: [] });
};

/** Nobody commits to the view of cases meanwhile, so that no change is taken for one that was notified of. */
const commit = async (
  views: ViewStore,
  changes: {
    readonly from: Sequence;
    readonly to: Sequence;
    readonly writes: readonly Write[];
    readonly expected: readonly Expectation[];
  },
): Promise<boolean> => {
  const { kind } = await views.commit({
    views: [NOTIFIED_VIEW],
    deadLetters: [],
    beside: [CASES_VIEW],
    ...changes,
  });
  return kind === "committed";
};

interface Page {
  readonly writes: readonly Write[];
  readonly expected: readonly Expectation[];
  /** Whether nothing else is due. */
  readonly isLast: boolean;
}

/** What is due, a number of obligations at a time. `position`: up to there the log was notified of. */
const nextPage = async ({ views, rules, now }: NotifierDependencies, position: Sequence): Promise<Page> => {
  const at = now().toISOString();
  const nowKey = timeKey(at);
  const agenda = await views.select(agendaQuery(nowKey, NOTIFIED_DUTIES));
  const isLast = agenda.length < NOTIFIED_DUTIES;
  if (agenda.length === 0) return { writes: [], expected: [], isLast };
  const keys = agenda.map(keyOf);
  const duties = byKey(OBLIGATIONS, await views.load(OBLIGATIONS, keys));
  const notified = byKey(NOTIFIED, await views.load(NOTIFIED, keys));
  const [newest] = await views.select(outboxQuery("desc", 1));
  let number = (newest ? rowInteger(newest, "number") : 0) + 1;
  const expected = agenda.map((row) => ({ table: DUTY_AGENDA, key: agendaKeyOf(row), row }));
  const writes: Write[] = [];
  for (const entry of agenda) {
    const row = duties.get(keyText(OBLIGATIONS, keyOf(entry)));
    if (!row) {
      writes.push({ kind: "delete", table: DUTY_AGENDA, key: agendaKeyOf(entry) });
      continue;
    }
    const next = { ...entry, at: nextChangeOf(row, nowKey) ?? NEVER };
    writes.push({ kind: "upsert", table: DUTY_AGENDA, row: next });
    const before = notifiedOf(notified.get(keyText(NOTIFIED, keyOf(entry))));
    const isPast = entry.at === CHANGED && rowInteger(entry, "sequence") <= position;
    if (before === undefined && isPast) continue;
    const current = { state: stateOfRow(row, nowKey), dueAt: rowText(row, "due_at") };
    const transitions = transitionsTo({ ...current, isRecordedLate: row.recorded_late === 1 }, before);
    if (transitions.length === 0) continue;
    const told = { ...keyOf(entry), state: current.state, due_at: current.dueAt };
    writes.push({ kind: "upsert", table: NOTIFIED, row: told });
    for (const transition of transitions) {
      // Inserted: a number that another notifier has taken meanwhile is refused, so messages stay in the order in which they were found.
      const message = messageAbout(row, transition, { rules, at, atKey: nowKey });
      writes.push({ kind: "insert", table: OUTBOX, row: { tenant: OPERATOR, number: number++, ...message } });
    }
  }
  return { writes, expected, isLast };
};

/** False if another notifier has changed the outbox meanwhile. */
const publishOutbox = async (
  { views, publish, onNotified }: NotifierDependencies,
  signal: AbortSignal,
): Promise<boolean> => {
  while (!signal.aborted) {
    const rows = await views.select(outboxQuery("asc", NOTIFIED_DUTIES));
    if (rows.length === 0) return true;
    await publish(rows.map(messageIn));
    // Numbers are used again: a row that has changed is another message.
    const expected = rows.map((row) => ({ table: OUTBOX, key: outboxKeyOf(row), row }));
    const writes = expected.map(({ table, key }): Write => ({ kind: "delete", table, key }));
    if ((await views.revise({ views: [OUTBOX_VIEW], expected, writes })).kind === "outdated") return false;
    for (const row of rows)
      for (const transition of TRANSITIONS) if (transition === row.transition) onNotified(transition);
  }
  return true;
};

const outboxQuery = (order: "asc" | "desc", rowsMax: number) =>
  tenantList({
    tenant: OPERATOR,
    table: OUTBOX,
    columns: ["tenant", "number", "owner", "transition", "subject", "payload"],
    where: [],
    orderBy: ["number"],
    order,
    rowsMax,
  });

const messageIn = (row: Row): DutyMessage => {
  const payload = rowText(row, "payload");
  const messageId = createHash("sha256").update(payload).digest("base64url");
  return { tenant: rowText(row, "owner"), subject: rowText(row, "subject"), messageId, payload };
};

const outboxKeyOf = ({ tenant = "", number = 0 }: Row) => ({ tenant, number });

const agendaKeyOf = ({ tenant = "", owner = "", obligation_id = "" }: Row) => ({
  tenant,
  owner,
  obligation_id,
});

/** The key of an obligation of the agenda in the tables of its tenant. */
const keyOf = ({ owner = "", obligation_id = "" }: Row) => ({ tenant: owner, obligation_id });

const byKey = (table: Table, rows: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [keyText(table, row), row]));

const notifiedOf = (row: Row | undefined) =>
  row && {
    state: OBLIGATION_STATES.find((state) => state === row.state) ?? "open",
    dueAt: rowText(row, "due_at"),
  };

/** The message about one transition of an obligation, as streams/README.md describes it. `at`, when it was found, also tells equal transitions apart. */
const messageAbout = (
  row: Row,
  transition: Transition,
  { rules, at, atKey }: { readonly rules: Rules; readonly at: string; readonly atKey: string },
) => {
  const tenant = rowText(row, "tenant");
  const [assetId, rule] = [rowText(row, "asset_id"), rowText(row, "rule")];
  const {
    extensions: _,
    ruleset_version: __,
    ...entry
  } = { extensions: 0, ...obligationEntry(row, rules, atKey) };
  const { started_sequence, stopped_sequence, ...shown }: Readonly<Record<string, unknown>> = entry;
  const payload = {
    tenant,
    obligation_id: row.obligation_id,
    transition,
    ...shown,
    started_by: { event_id: row.started_by, sequence: started_sequence },
    stopped_by: row.stopped_by === null ? null : { event_id: row.stopped_by, sequence: stopped_sequence },
    at,
  };
  return {
    owner: tenant,
    transition,
    subject: obligationSubject({ tenant, assetId, rule, transition }),
    payload: JSON.stringify(payload),
  };
};
