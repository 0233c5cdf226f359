/**
 * The arithmetic of a key's own limits: a bucket that refills evenly and holds one second's worth. It may go into debt: a batch larger than
 * the rate passes when the bucket is full, and is paid for by a longer wait afterwards. Kept per process: the fallback of
 * shared-rate-limit.ts while the broker does not answer.
 */

export interface RateLimiter {
  /** Takes `count` for this key, or returns how long to wait. A key without a limit is always allowed. */
  take(request: RateRequest): RateDecision;
}

export interface RateRequest {
  readonly keyId: string;
  readonly unit: RateUnit;
  /** Undefined if the key has no such limit. */
  readonly perSecond: number | undefined;
  readonly count: number;
}

export type RateUnit = "requests" | "events";

export type RateDecision =
  | { readonly kind: "allowed" }
  | {
      readonly kind: "limited";
      readonly unit: RateUnit;
      readonly perSecond: number;
      /** Whole seconds until one more is allowed, at least 1. */
      readonly retryAfterSeconds: number;
      /** Whose limit it is, if not the key's own. */
      readonly sharedBy?: "keys" | "tenant";
    };

/** `elapsedMs`: a clock that never goes back. */
export const createRateLimiter = (elapsedMs: () => number): RateLimiter => {
  const buckets = new Map<string, { level: number; at: number }>();
  return {
    take: ({ keyId, unit, perSecond, count }) => {
      if (perSecond === undefined) return { kind: "allowed" };
      const now = elapsedMs();
      const name = `${unit} ${keyId}`;
      const bucket = buckets.get(name) ?? { level: perSecond, at: now };
      const level = Math.min(perSecond, bucket.level + ((now - bucket.at) / 1000) * perSecond);
      if (level < 1) {
        buckets.set(name, { level, at: now });
        return {
          kind: "limited",
          unit,
          perSecond,
          retryAfterSeconds: Math.max(1, Math.ceil((1 - level) / perSecond)),
        };
      }
      buckets.set(name, { level: level - count, at: now });
      return { kind: "allowed" };
    },
  };
};
