/** The order of what is kept in memory as a whole and listed: oldest first, and of one moment by id. Nothing in it ever changes, so a page neither shifts nor repeats. */

export interface Placed {
  /** Of one spelling, so that times compare as text. */
  readonly created_at: string;
  readonly id: string;
}

export const placeOf = ({ created_at, id }: Placed): string => `${created_at} ${id}`;

export const byPlace = (one: Placed, other: Placed): number => compareText(placeOf(one), placeOf(other));

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
