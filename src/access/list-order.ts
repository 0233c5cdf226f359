/**
 * The order of lists kept whole in memory: oldest first, then by id. Neither ever changes, so a page neither shifts nor
 * repeats.
 */

export interface Placed {
  /** Spelt alike everywhere, so that times compare as text. */
  readonly created_at: string;
  readonly id: string;
}

export const placeOf = ({ created_at, id }: Placed): string => `${created_at} ${id}`;

export const byPlace = (one: Placed, other: Placed): number => (placeOf(one) < placeOf(other) ? -1 : 1);
