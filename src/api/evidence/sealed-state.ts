/** What views and seal say together at one moment. Everything that a bundle says of the views is as of one record of the log, under a signed head. */
import { setTimeout as delay } from "node:timers/promises";
import type { Rules } from "../../law/obligations/obligation.ts";
import { PROOF_POLL_MS } from "../../limits.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { SealedHead } from "../../proof/sealed-head.ts";
import { ASSETS, ASSETS_VIEW } from "../../views/assets/tables.ts";
import { DECISIONS } from "../../views/cases/registers/decisions.ts";
import { OBJECTIONS } from "../../views/cases/registers/objections.ts";
import { OBLIGATIONS } from "../../views/cases/registers/obligations.ts";
import { CASE_NODES, CASES_VIEW } from "../../views/cases/tables.ts";
import { eventsProjection } from "../../views/events/evolve.ts";
import { EVENTS, EVENTS_VIEW } from "../../views/events/tables.ts";
import { waitForPosition } from "../../views/kit/wait-for-position.ts";
import { rowInteger } from "../../views/store/tables.ts";
import { type Snapshot, VIEWS, type ViewDefinition, type ViewStore } from "../../views/store/view-store.ts";
import { treeSize } from "../../views/tree/queries.ts";
import { awaitHead, type ProofDependencies } from "../../views/tree/record-proof.ts";
import { TREE_VIEW, TREES } from "../../views/tree/tables.ts";
import { type KeptDuties, keepDuties } from "./duties.ts";
import type { EvidenceFilter } from "./evidence-filter.ts";
import { type Found, findParts, isAboutFound } from "./found.ts";
import { NO_SUBJECTS, readSubjects, type Subjects } from "./subjects.ts";

export interface EvidenceQuestion {
  readonly tenant: string;
  readonly filter: EvidenceFilter;
  /** The current time, as text that sorts by time. */
  readonly at: string;
}

export interface SealedStateDependencies extends Pick<ProofDependencies, "checkpoints"> {
  readonly views: Pick<ViewStore, "load" | "select" | "position" | "snapshot">;
  readonly log: Pick<LogReader, "lastSequence">;
  readonly rules: Rules;
}

export interface SealedState {
  readonly head: SealedHead;
  /** The position of the views in the log. Nothing that the bundle says of decisions, assets, cases and duties includes later records. */
  readonly end: number;
  /** The number of leaves of the tenant's tree. */
  readonly size: number;
  /** If the bundle is about a case, a decision or a person. */
  readonly found: Found | undefined;
  readonly subjects: Subjects;
  readonly duties: KeptDuties;
}

/** Waits until views and seal have reached the current end of the log. */
export const untilSealed = async (
  dependencies: SealedStateDependencies,
  question: EvidenceQuestion,
  waitMs: number,
): Promise<({ readonly kind: "sealed" } & SealedState) | { readonly kind: "nothing" | "not_sealed" }> => {
  const { views, log, checkpoints } = dependencies;
  const deadline = performance.now() + waitMs;
  const logEnd = await log.lastSequence();
  for (const projection of EVIDENCE_VIEWS) {
    const timeoutMs = Math.max(0, deadline - performance.now());
    if (!(await waitForPosition({ views, projection, sequence: logEnd, timeoutMs })))
      return { kind: "not_sealed" };
  }
  const state = await untilLevel(dependencies, question, deadline);
  if (state === undefined) return { kind: "not_sealed" };
  if (state.size === 0) return { kind: "nothing" };
  const head = await awaitHead({ checkpoints }, question.tenant, state.size, deadline);
  return head ? { kind: "sealed", head, ...state } : { kind: "not_sealed" };
};

/**
 * Reads everything at once, so that all of it is as of one record. Undefined if the views differ in position until the deadline, because one of them
 * is being rebuilt.
 */
const untilLevel = async (
  { views, rules }: SealedStateDependencies,
  { tenant, filter, at }: EvidenceQuestion,
  deadline: number,
): Promise<Omit<SealedState, "head"> | undefined> => {
  for (;;) {
    const state = await views.snapshot(STATE, async (snapshot) => {
      const end = await levelOf(snapshot);
      if (end === undefined) return undefined;
      const found = await findParts(snapshot, { tenant, filter, rules });
      const size = await treeSize(snapshot, tenant);
      const state = { end, size, found };
      // A case that does not exist has no duties, and must not get those of the whole tenant.
      if (isAboutFound(filter) && found === undefined)
        return { ...state, subjects: NO_SUBJECTS, duties: () => [] };
      const about = { tenant, filter, found };
      const subjects = await readSubjects(snapshot, { ...about, rules, at });
      return { ...state, subjects, duties: await keepDuties(snapshot, about) };
    });
    if (state !== undefined || performance.now() >= deadline) return state;
    await delay(PROOF_POLL_MS);
  }
};

/** The common position of all views; undefined if they differ. */
const levelOf = async (snapshot: Snapshot): Promise<number | undefined> => {
  const rows = await snapshot.load(
    VIEWS,
    EVIDENCE_VIEWS.map((name) => ({ name })),
  );
  const [end, ...others] = new Set(rows.map((row) => rowInteger(row, "position")));
  return rows.length === EVIDENCE_VIEWS.length && others.length === 0 ? end : undefined;
};

/** What a bundle is made of. */
export const EVIDENCE_VIEWS = [EVENTS_VIEW, TREE_VIEW, CASES_VIEW, ASSETS_VIEW] as const;

/** The parts that are read at once. */
const STATE: ViewDefinition = {
  name: EVENTS_VIEW,
  version: eventsProjection.version,
  tables: [EVENTS, TREES, CASE_NODES, DECISIONS, OBJECTIONS, OBLIGATIONS, ASSETS],
  textIndexes: eventsProjection.textIndexes ?? [],
};
