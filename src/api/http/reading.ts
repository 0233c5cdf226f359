/** Shared by all reads of views: waiting for a sequence, pages, and their documentation. */

import { isTenant, TENANT_EXPECTED, TENANT_PATTERN } from "../../access/tenant.ts";
import { MIN_SEQUENCE_WAIT_MS_MAX } from "../../limits.ts";
import { createTurnsOfLoop } from "../../runtime/turns-of-loop.ts";
import { inOneRevision } from "../../views/kit/in-one-revision.ts";
import { waitForPosition } from "../../views/kit/wait-for-position.ts";
import type { Condition } from "../../views/store/conditions.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import type { Call } from "./call.ts";
import type { Parameter } from "./openapi.ts";
import { problem } from "./problem.ts";
import { type Query, readQuery } from "./query.ts";
import { successWhole } from "./success.ts";

/** By default a text, of which an empty one is refused (query.ts). */
export const parameter = (
  name: string,
  description: string,
  schema: Parameter["schema"] = { type: "string", minLength: 1 },
): Parameter => ({ name, in: "query", description, schema });

export const pathParameter = (name: string, example: string): Parameter => ({
  name,
  in: "path",
  required: true,
  description:
    "Percent-encoded. `.` and `../..` cannot be read here, because URL clients remove them, also as `%2E`: use the lists and their filters.",
  schema: { type: "string" },
  example,
});

/** A sequence, or a number of leaves: an integer that JavaScript holds exactly. */
export const countFrom = (minimum: 0 | 1): Parameter["schema"] => ({
  type: "integer",
  minimum,
  maximum: Number.MAX_SAFE_INTEGER,
});

export const MIN_SEQUENCE = parameter(
  "min_sequence",
  `Wait until the view has seen this sequence, up to ${MIN_SEQUENCE_WAIT_MS_MAX / 1000} s: so a writer reads its own write.`,
  countFrom(0),
);

/** A name that no tenant can have is refused: it would look like a tenant without data. */
export const readTenant = (query: Query): string | undefined =>
  query.checked("tenant", isTenant, `a tenant: ${TENANT_EXPECTED}`);

export const tenantParameter = (description: string): Parameter =>
  parameter("tenant", description, { type: "string", pattern: TENANT_PATTERN });

/** A note for lists that are ordered by the newest event of each row. */
export const movesWithEvents = (row: string): string =>
  `${row} that gets an event while pages are read moves to the newest end: with \`order=desc\` it may be missed, with \`order=asc\` it may come twice.`;

export interface ReadDependencies {
  readonly views: ViewStore;
  readonly now: () => Date;
}

/** The wait for `min_sequence`. */
export interface SequenceWait {
  readonly sequence: number;
  /** Deadline by `performance.now()`, also for waits on something else than the views. */
  readonly until: number;
}

/** A read: the projections to wait for, its parameters, and its answer. */
export interface Read<Asked> {
  readonly view: string | readonly string[];
  /** The answer itself says how far the views are, so it is given even while one of them is being made. */
  readonly tellsPosition?: true;
  ask(query: Query): Asked;
  /** May be called again if a view is replaced meanwhile. */
  answer(asked: Asked, call: Call, awaited: SequenceWait | undefined): Promise<Response>;
}

/** Reads the parameters strictly, waits for `min_sequence`, and answers. */
export const reading =
  <Asked>(views: ViewStore, { view, tellsPosition, ask, answer }: Read<Asked>) =>
  async (call: Call): Promise<Response> => {
    const { request, context } = call;
    const query = readQuery(request.url);
    const asked = ask(query);
    const sequence = readMinSequence(query);
    const errors = query.errors();
    if (errors.length > 0) return problem(context, "invalid_request", { errors });
    const projections = [view].flat();
    const awaited = sequenceWait(sequence);
    const response = await onceSeen(
      { views, projections, awaited },
      async () => {
        // After the wait, during which a view may become complete.
        if (!tellsPosition) await call.madeViews.check(projections);
        return answer(asked, call, awaited);
      },
      dropped,
    );
    return response ?? problem(context, "view_behind");
  };

/** An answer that is not used: its body is not read. */
export const dropped = (unused: Response): void => void unused.body?.cancel().catch(() => {});

/**
 * For answers of megabytes: of several long ones, one is made in each turn of the event loop. SQLite returns rows without ever waiting, so all answers
 * requested at the same time would be made before anything else runs. Sixty of one large case kept everybody waiting for 11 s (measured).
 */
export const inOwnTurn = createTurnsOfLoop(() => performance.now());

/** The result of `ask` once all these views have seen the sequence; undefined if they do not get there in time. */
export const onceSeen = async <Answer>(
  seeing: {
    readonly views: Pick<ViewStore, "position" | "load">;
    readonly projections: readonly string[];
    readonly awaited: SequenceWait | undefined;
  },
  ask: () => Promise<Answer>,
  drop?: (unused: Answer) => void,
): Promise<Answer | undefined> => {
  const { views, projections, awaited } = seeing;
  if (awaited === undefined) return ask();
  const hasReached = (): Promise<boolean> => haveSeenInTime(views, projections, awaited);
  return inOneRevision({ views, projections, hasReached }, ask, drop);
};

export const readMinSequence = (query: Query): number | undefined =>
  query.integer("min_sequence", { min: 0, max: Number.MAX_SAFE_INTEGER });

/** From now on. */
export const sequenceWait = (sequence: number | undefined): SequenceWait | undefined =>
  sequence === undefined ? undefined : { sequence, until: performance.now() + MIN_SEQUENCE_WAIT_MS_MAX };

/** Waits until all these views have seen `min_sequence`; false if they do not in time. */
export const haveSeenInTime = async (
  views: Pick<ViewStore, "position">,
  projections: readonly string[],
  awaited: SequenceWait | undefined,
): Promise<boolean> => {
  if (awaited === undefined) return true;
  const { sequence, until } = awaited;
  const timeoutMs = until - performance.now();
  const seen = await Promise.all(
    projections.map((projection) => waitForPosition({ views, projection, sequence, timeoutMs })),
  );
  return seen.every((each) => each);
};

export const invalidCursor = ({ context }: Pick<Call, "context">): Response =>
  problem(context, "invalid_request", {
    errors: [
      {
        path: "query:cursor",
        code: "invalid_value",
        message: "Send the next_cursor of the page before, with the same filters, or none.",
      },
    ],
  });

export const equalTo = (column: string, value: string | undefined): readonly Condition[] =>
  value === undefined ? [] : [{ kind: "equals", column, value }];

export const answerOne = ({ context }: Call, data: unknown): Response =>
  successWhole(context, JSON.stringify(data));

export const notFound = ({ context }: Call, what: string): Response =>
  problem(context, "not_found", { detail: `There is no such ${what} in the tenant of this key.` });
