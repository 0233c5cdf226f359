/** What the stories are written into: each thing that happens becomes an event, with the time at which the log received it. */
import { createHash } from "node:crypto";
import type { AuditEvent } from "../../event/audit-event.ts";
import type { System } from "./bank.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const HISTORY_DAYS = 90;

/** What an event says beside its type, system and time. */
export type Members = Omit<AuditEvent, "event_id" | "timestamp" | "asset_id" | "event_type">;
export type Metadata = NonNullable<AuditEvent["metadata"]>;

export interface Sentence {
  readonly type: string;
  readonly system: System;
  readonly at: number;
  readonly receivedAt: number;
  readonly members: Members;
}

export interface Journal {
  readonly chance: Chance;
  /** The time so many days before the end; a fraction is part of a day. */
  daysAgo(days: number): number;
  /** Nothing is said that would be later than the end. `recordedAt`: if somebody entered it afterwards. */
  say(type: string, system: System, at: number, members?: Members, recordedAt?: number): void;
  sentences(): readonly Sentence[];
}

/** `end`: the midnight UTC at which the history ends. */
export const createJournal = (end: number, chance: Chance): Journal => {
  const begin = end - HISTORY_DAYS * DAY_MS;
  const said: Sentence[] = [];
  return {
    chance,
    daysAgo: (days) => end - Math.round(days * DAY_MS),
    say: (type, system, at, members = {}, recordedAt) => {
      // Drawn also for what is left out, so that the rest of the history does not depend on it.
      const delay = 40 + chance.below(900);
      // What happened before the log began was entered on its first day.
      const receivedAt = Math.max(recordedAt ?? at + delay, begin + HOUR_MS + delay);
      if (receivedAt < end) said.push({ type, system, at, receivedAt, members });
    },
    sentences: () => said.toSorted((one, other) => one.receivedAt - other.receivedAt),
  };
};

/** What the log holds of an identifier. */
export const sha256 = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** The person whose story the demo tells. */
export const KNOWN_PERSON = "customer-0042";

/** Random numbers that a seed repeats: mulberry32, whose 32 bits of state are enough for a history. */
export const createChance = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (end: number): number => Math.floor(next() * end),
    is: (share: number): boolean => next() < share,
    one: <Value>(values: readonly [Value, ...Value[]]): Value =>
      values[Math.floor(next() * values.length)] ?? values[0],
  };
};

export type Chance = ReturnType<typeof createChance>;
