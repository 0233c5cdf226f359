/** Bytes that are held for many at once: so many in all, and of each holder, who is a tenant, or where no key is needed a client. */

export interface PotBounds {
  readonly bytesHeldMax: number;
  readonly bytesPerHolderMax: number;
}

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
      if (bytes > 0 && (bytesHeld + bytes > bytesHeldMax || ofHolder > bytesPerHolderMax)) return false;
      bytesHeld += bytes;
      if (ofHolder > 0) perHolder.set(holder, ofHolder);
      else perHolder.delete(holder);
      return true;
    },
  };
};
