/** How long an event is kept, and why. Pure. The expiry worker asks for every event before it expires, and the API shows the reasons. */
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
import type { RetentionPolicy } from "./records.ts";

type ReasonCode =
  /** A law requires it; the clause says which. */
  | "law"
  /** The default age of the tier, which the policy does not name. */
  | "tier_default"
  | "policy_minimum"
  | "policy_maximum"
  /** The policy has no maximum age. */
  | "no_maximum"
  | "hold";

export interface Reason {
  readonly code: ReasonCode;
  readonly text: string;
  /** The article, if a law is the reason. */
  readonly clause: string | null;
}

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

const FLOORS = FLOOR_NAMES.map((name) => ({
  name,
  beginning: name.endsWith("*") ? name.slice(0, -1) : undefined,
}));

const floorNameOf = (legalBasis: string): FloorName | undefined =>
  FLOORS.find(({ name, beginning }) =>
    beginning === undefined ? legalBasis === name : legalBasis.startsWith(beginning),
  )?.name;

const daysOf = (name: FloorName | undefined): number => (name ? LEGAL_FLOORS[name].days : 0);

const longestFloor = (legalBases: readonly string[]): FloorName | undefined => {
  let longest: FloorName | undefined;
  for (const legalBasis of legalBases) {
    const name = floorNameOf(legalBasis);
    if (daysOf(name) > daysOf(longest)) longest = name;
  }
  return longest;
};

/** Accepts any text as a tier; an unknown one counts as no tier. */
export const classOf = (legalBases: readonly string[], riskTier: string | null): RetentionClass => ({
  tier: RETENTION_TIERS.find((tier) => tier === riskTier) ?? "unknown",
  floor: longestFloor(legalBases),
});

export const RETENTION_CLASSES: readonly RetentionClass[] = RETENTION_TIERS.flatMap((tier) =>
  [undefined, ...FLOOR_NAMES].map((floor) => ({ tier, floor })),
);

/** The class as the text of a column. */
export const classText = ({ tier, floor }: RetentionClass): string => `${tier}/${floor ?? ""}`;

/** The minimum that laws require, whatever the policy is. */
export const legalFloor = ({ floor }: Pick<RetentionClass, "floor">): Age & { readonly days: number } => {
  const { days, span, clause }: Floor = floor ? LEGAL_FLOORS[floor] : GENERAL_FLOOR;
  return { days, reason: { code: "law", text: `The law asks for ${span}.`, clause } };
};

const tierAge = (tier: RetentionTier): Age => {
  const age = TIER_AGES[tier];
  const named = tier === "unknown" ? "Events without a known tier are" : `The tier ${tier} is`;
  const text = age
    ? `${named} kept ${age.span} unless the policy names the tier.`
    : `${named} kept until the policy names the tier.`;
  return { days: age?.days ?? null, reason: { code: "tier_default", text, clause: null } };
};

/** Of equally long ones the first. */
const longest = ([first, ...others]: readonly [Age, ...Age[]]): Age =>
  others.reduce((most, age) => (isLonger(age.days, most.days) ? age : most), first);

const isLonger = (one: number | null, other: number | null): boolean =>
  other !== null && (one === null || one > other);

/** The age under a policy. Without a maximum age nothing expires. */
export const ageOf = (policy: RetentionPolicy, kept: RetentionClass): Age => {
  const own = policy.tiers?.[kept.tier];
  const maximum = own?.maximum_days ?? policy.maximum_days;
  if (maximum === undefined) return { days: null, reason: NO_MAXIMUM };
  const minimum = own?.minimum_days ?? policy.minimum_days;
  return longest([
    legalFloor(kept),
    ...(own?.maximum_days === undefined ? [tierAge(kept.tier)] : []),
    ...(minimum === undefined ? [] : [policyAge("policy_minimum", minimum)]),
    policyAge("policy_maximum", maximum),
  ]);
};

const NO_MAXIMUM: Reason = {
  code: "no_maximum",
  text: "The policy says no maximum age: nothing expires.",
  clause: null,
};

const policyAge = (code: "policy_minimum" | "policy_maximum", days: number): Age => ({
  days,
  reason: {
    code,
    text: `The policy's ${code === "policy_minimum" ? "minimum" : "maximum"} is ${days} days.`,
    clause: null,
  },
});

/** What the rules need to know of an event. */
export interface RetentionFacts {
  /** `timestamp` and `received_at` as text that sorts by time (src/event/formats.ts). */
  readonly occurred: string;
  readonly received: string;
  readonly legalBases: readonly string[];
  readonly riskTier: string | null;
  readonly assetId: string;
  /** Correlation ids of the case that it belongs to. */
  readonly correlationIds: readonly string[];
}

/** The parts of a hold that matter here. */
export interface Hold {
  readonly asset_id?: string;
  readonly correlation_id?: string;
  readonly released_at?: string;
}

interface Expiry {
  /** Undefined: never. */
  readonly at: Date | undefined;
  readonly reason: Reason;
}

const isHeldBy = (facts: Pick<RetentionFacts, "assetId" | "correlationIds">, hold: Hold): boolean =>
  hold.released_at === undefined &&
  (hold.asset_id === facts.assetId ||
    (hold.correlation_id !== undefined && facts.correlationIds.includes(hold.correlation_id)));

export const isOnHold = (
  facts: Pick<RetentionFacts, "assetId" | "correlationIds">,
  holds: readonly Hold[],
): boolean => holds.some((hold) => isHeldBy(facts, hold));

const HELD: Reason = {
  code: "hold",
  text: "A hold on the asset or the case keeps it until it is released.",
  clause: null,
};

/** When an event may expire. A hold overrides everything. */
export const expiresAt = (facts: RetentionFacts, policy: RetentionPolicy, holds: readonly Hold[]): Expiry => {
  if (isOnHold(facts, holds)) return { at: undefined, reason: HELD };
  const { days, reason } = ageOf(policy, classOf(facts.legalBases, facts.riskTier));
  if (days === null) return { at: undefined, reason };
  return { at: new Date(instantOf(countedFrom(facts)) + days * DAY_MS), reason };
};

const DAY_MS = 24 * 60 * 60 * 1000;

/** The age counts from the later of both times: an event that came late has not been kept yet. */
export const countedFrom = ({
  occurred,
  received,
}: Pick<RetentionFacts, "occurred" | "received">): string => {
  if (occurred > received) return occurred;
  return received;
};

/**
 * Rounded up to the next whole second, so that no fraction is lost. A leap second, which a Date does not know, becomes the second after it.
 */
const instantOf = (time: string): number => {
  const seconds = time.slice(0, WHOLE_SECONDS).replace(/:60$/, ":59");
  return Date.parse(`${seconds}Z`) + 1000;
};

/** Events of this class that count from before this time may expire. It includes a few too many: expiresAt decides. */
export const dueBefore = (age: Age, now: Date): string | undefined => {
  if (age.days === null) return undefined;
  const before = now.getTime() - age.days * DAY_MS;
  // Texts of years before 0 would not sort; nothing is that old.
  return before <= 0 ? undefined : new Date(before).toISOString().slice(0, -1);
};
