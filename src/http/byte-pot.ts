/** Bytes that are held for many at once: so many in all, and of each holder, who is a tenant, or where no key is needed a client. */
import { HELD_SHARE_OF_ONE } from "../limits.ts";

export interface PotBounds {
  readonly bytesHeldMax: number;
  /** As soon as half of all is held: until then nobody is kept from anything. */
  readonly bytesPerHolderMax: number;
}

export const potOf = (bytesHeldMax: number): PotBounds => ({
  bytesHeldMax,
  bytesPerHolderMax: bytesHeldMax * HELD_SHARE_OF_ONE,
});

export interface BytePot {
  /** False where it is more than can be held. Less than nothing is given back. */
  take(holder: string, bytes: number): boolean;
}

export const createBytePot = ({ bytesHeldMax, bytesPerHolderMax }: PotBounds): BytePot => {
  let bytesHeld = 0;
  const perHolder = new Map<string, number>();
  return {
    take: (holder, bytes) => {
      if (bytes === 0) return true;
      const ofHolder = (perHolder.get(holder) ?? 0) + bytes;
      const allHeld = bytesHeld + bytes;
      const isOverShare = ofHolder > bytesPerHolderMax && allHeld > bytesHeldMax / 2;
      if (bytes > 0 && (allHeld > bytesHeldMax || isOverShare)) return false;
      bytesHeld += bytes;
      if (ofHolder > 0) perHolder.set(holder, ofHolder);
      else perHolder.delete(holder);
      return true;
    },
  };
};
