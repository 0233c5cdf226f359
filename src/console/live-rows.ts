/** The newest events of a live stream, where it was broken off, and what waits while the reader pauses. Pure, and never more than a few rows. */
import type { StoredEvent } from "./answers.ts";

export const LIVE_ROWS_MAX = 50;

/** What lies between a row and the one beneath it. */
export type Mark =
  /** The stream was broken off. `lost`: it could not go on where it had stopped. */
  | { readonly kind: "resumed" | "lost"; readonly from: string; readonly to: string }
  | { readonly kind: "left_out"; readonly events: number };

export interface LiveRow extends StoredEvent {
  readonly marks: readonly Mark[];
}

export interface LiveRows {
  readonly rows: readonly LiveRow[];
  readonly isPaused: boolean;
  /** The newest of those that arrived during the pause. */
  readonly waiting: readonly LiveRow[];
  readonly leftOut: number;
  readonly brokenAt?: string | undefined;
  /** Of the next event. */
  readonly marks: readonly Mark[];
}

export const NOTHING_LIVE: LiveRows = { rows: [], isPaused: false, waiting: [], leftOut: 0, marks: [] };

export type LiveAction =
  | { readonly kind: "received"; readonly stored: StoredEvent }
  | { readonly kind: "broken"; readonly at: string }
  | { readonly kind: "opened"; readonly at: string; readonly isLost: boolean }
  | { readonly kind: "paused" }
  | { readonly kind: "continued" }
  | { readonly kind: "begun" };

export const liveRowsAfter = (state: LiveRows, action: LiveAction): LiveRows => {
  switch (action.kind) {
    case "received":
      return received({ ...state, marks: [] }, { ...action.stored, marks: state.marks });
    case "broken":
      return { ...state, brokenAt: state.brokenAt ?? action.at };
    case "opened": {
      const { brokenAt, ...rest } = state;
      if (brokenAt === undefined) return state;
      const kind = action.isLost ? "lost" : "resumed";
      return {
        ...rest,
        marks: [...state.marks, { kind, from: brokenAt, to: action.at } as const].slice(-MARKS_MAX),
      };
    }
    case "paused":
      return { ...state, isPaused: true };
    case "continued":
      return continued(state);
    case "begun":
      return NOTHING_LIVE;
  }
};

/** Of a service that comes and goes all day. */
const MARKS_MAX = 5;

const received = (state: LiveRows, row: LiveRow): LiveRows => {
  if (!state.isPaused) return { ...state, rows: [row, ...state.rows].slice(0, LIVE_ROWS_MAX) };
  const waiting = [row, ...state.waiting];
  return {
    ...state,
    waiting: waiting.slice(0, LIVE_ROWS_MAX),
    leftOut: state.leftOut + Math.max(0, waiting.length - LIVE_ROWS_MAX),
  };
};

const continued = ({ rows, waiting, leftOut, ...state }: LiveRows): LiveRows => {
  const oldest = waiting.at(-1);
  const marked: readonly LiveRow[] =
    oldest && leftOut > 0
      ? [
          ...waiting.slice(0, -1),
          { ...oldest, marks: [...oldest.marks, { kind: "left_out", events: leftOut }] },
        ]
      : waiting;
  return {
    ...state,
    isPaused: false,
    waiting: [],
    leftOut: 0,
    rows: [...marked, ...rows].slice(0, LIVE_ROWS_MAX),
  };
};
