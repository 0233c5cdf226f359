/** A bounded amount, in bytes or records, shared by many holders. A holder is a tenant, or a client where no key is needed. */
import { HELD_SHARE_OF_ONE } from "../limits.ts";

export interface QuotaBounds {
  readonly heldMax: number;
  /** Applies once half of everything is held. Until then no holder is limited. */
  readonly perHolderMax: number;
}

export const quotaBounds = (heldMax: number): QuotaBounds => ({
  heldMax,
  perHolderMax: heldMax * HELD_SHARE_OF_ONE,
});

export interface MemoryQuota {
  /** False if the amount does not fit. A negative amount is given back. */
  take(holder: string, amount: number): boolean;
}

export const createMemoryQuota = ({ heldMax, perHolderMax }: QuotaBounds): MemoryQuota => {
  let held = 0;
  const perHolder = new Map<string, number>();
  return {
    take: (holder, amount) => {
      if (amount === 0) return true;
      const ofHolder = (perHolder.get(holder) ?? 0) + amount;
      const ofAll = held + amount;
      const isOverShare = ofHolder > perHolderMax && ofAll > heldMax / 2;
      if (amount > 0 && (ofAll > heldMax || isOverShare)) return false;
      held = ofAll;
      if (ofHolder > 0) perHolder.set(holder, ofHolder);
      else perHolder.delete(holder);
      return true;
    },
  };
};
