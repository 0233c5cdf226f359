/** What is held for many at once, in bytes or records: so much in all, and of each holder, who is a tenant, or where no key is needed a client. */
import { HELD_SHARE_OF_ONE } from "../limits.ts";

export interface PotBounds {
  readonly heldMax: number;
  /** As soon as half of all is held: until then nobody is kept from anything. */
  readonly perHolderMax: number;
}

export const potOf = (heldMax: number): PotBounds => ({ heldMax, perHolderMax: heldMax * HELD_SHARE_OF_ONE });

export interface SharedPot {
  /** False where it is more than can be held. Less than nothing is given back. */
  take(holder: string, amount: number): boolean;
}

export const createSharedPot = ({ heldMax, perHolderMax }: PotBounds): SharedPot => {
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
