/** How long an event is kept, and why. Pure. The expiry worker asks before anything expires, and the API shows the reasons. */
import { WHOLE_SECONDS } from "../../event/formats.ts";
import {
  FLOOR_NAMES,
  type Floor,
  type FloorName,
  GENERAL_FLOOR,
  LEGAL_FLOORS,
  RETENTION_TIERS,
  type RetentionTier,
  TIER_AGES,
} from "./floors.ts";
import type { HoldRecord, RetentionPolicy } from "./records.ts";

type ReasonCode =
  /** A law requires it; the clause says which. */
  | "law"
  | "tier_default"
  | "policy_minimum"
  | "policy_maximum"
  /** The policy has no maximum age. */
  | "no_maximum";

export interface Reason {
  readonly code: ReasonCode;
  readonly text: string;
  readonly clause: string | null;
}

const reason = (code: ReasonCode, text: string, clause: string | null = null): Reason => ({
  code,
  text,
  clause,
});

/** Days after which an event may expire; null: never. */
export interface Age {
  readonly days: number | null;
  readonly reason: Reason;
}

/** Events with one class are kept equally long under any policy. */
export interface RetentionClass {
  readonly tier: RetentionTier;
  /** Of the event's legal bases, the one that requires the longest time. */
  readonly floor: FloorName | undefined;
}

const daysOf = (name: FloorName | undefined): number => (name ? LEGAL_FLOORS[name].days : 0);

const appliesTo = (name: FloorName, legalBasis: string): boolean =>
  name.endsWith("*") ? legalBasis.startsWith(name.slice(0, -1)) : legalBasis === name;

const longestFloor = (legalBases: readonly string[]): FloorName | undefined =>
  FLOOR_NAMES.filter((name) => legalBases.some((basis) => appliesTo(name, basis))).reduce<
    FloorName | undefined
  >((longest, name) => (daysOf(name) > daysOf(longest) ? name : longest), undefined);

/** Accepts any text as a tier; an unknown one counts as no tier. */
export const classOf = (legalBases: readonly string[], riskTier: string | null): RetentionClass => ({
  tier: RETENTION_TIERS.find((tier) => tier === riskTier) ?? "unknown",
  floor: longestFloor(legalBases),
});

export const RETENTION_CLASSES: readonly RetentionClass[] = RETENTION_TIERS.flatMap((tier) =>
  [undefined, ...FLOOR_NAMES].map((floor) => ({ tier, floor })),
);

export const classText = ({ tier, floor }: RetentionClass): string => `${tier}/${floor ?? ""}`;

/** The legal minimum, whatever the policy. */
export const legalFloor = ({ floor }: Pick<RetentionClass, "floor">): Age & { readonly days: number } => {
  const { days, span, clause }: Floor = floor ? LEGAL_FLOORS[floor] : GENERAL_FLOOR;
  return { days, reason: reason("law", `The law requires ${span}.`, clause) };
};

const tierAge = (tier: RetentionTier): Age => {
  const age = TIER_AGES[tier];
  const named = tier === "unknown" ? "Events without a known tier are" : `The tier ${tier} is`;
  const text = age
    ? `${named} kept ${age.span} unless the policy names the tier.`
    : `${named} kept until the policy names the tier.`;
  return { days: age?.days ?? null, reason: reason("tier_default", text) };
};

const longest = ([first, ...others]: readonly [Age, ...Age[]]): Age =>
  others.reduce((most, age) => (spanOf(age) > spanOf(most) ? age : most), first);

const spanOf = ({ days }: Age): number => days ?? Number.POSITIVE_INFINITY;

/** The age under a policy. Without a maximum age nothing expires. */
export const ageOf = (policy: RetentionPolicy, kept: RetentionClass): Age => {
  const own = policy.tiers?.[kept.tier];
  const maximum = own?.maximum_days ?? policy.maximum_days;
  if (maximum === undefined) return { days: null, reason: NO_MAXIMUM };
  const minimum = own?.minimum_days ?? policy.minimum_days;
  return longest([
    legalFloor(kept),
    ...(own?.maximum_days === undefined ? [tierAge(kept.tier)] : []),
    ...(minimum === undefined ? [] : [policyAge("minimum", minimum)]),
    policyAge("maximum", maximum),
  ]);
};

const NO_MAXIMUM = reason("no_maximum", "The policy sets no maximum age: nothing expires.");

const policyAge = (bound: "minimum" | "maximum", days: number): Age => ({
  days,
  reason: reason(`policy_${bound}`, `The policy's ${bound} is ${days} days.`),
});

export type Hold = Pick<HoldRecord, "asset_id" | "correlation_id" | "released_at">;

/** A hold overrides every age. `correlationIds`: those of the case to which the event belongs. */
export const isOnHold = (
  event: { readonly assetId: string; readonly correlationIds: readonly string[] },
  holds: readonly Hold[],
): boolean =>
  holds.some(
    (hold) =>
      hold.released_at === undefined &&
      (hold.asset_id === event.assetId ||
        (hold.correlation_id !== undefined && event.correlationIds.includes(hold.correlation_id))),
  );

/**
 * The time from which the age counts: the later of both, because a late event has not been kept yet. `timestamp` and `received_at` as text that
 * sorts by time (src/event/formats.ts).
 */
export const countedFrom = ({
  occurred,
  received,
}: {
  readonly occurred: string;
  readonly received: string;
}): string => (occurred > received ? occurred : received);

const DAY_MS = 24 * 60 * 60 * 1000;

/** Events of this age expire that count from before this time, in whole seconds: the last one of an event is kept to its end, a leap second too. */
export const dueBefore = (age: Age, now: Date): string | undefined => {
  if (age.days === null) return undefined;
  const before = now.getTime() - age.days * DAY_MS;
  // Texts of years before 0 would not sort; nothing is that old.
  return before <= 0 ? undefined : new Date(before).toISOString().slice(0, WHOLE_SECONDS);
};
