/** All 2ⁿ subsets of n items, the empty one first. */
export const subsets = <Item>(items: readonly Item[]): readonly (readonly Item[])[] => {
  const found: Item[][] = [[]];
  for (const item of items) found.push(...found.map((subset) => [...subset, item]));
  return found;
};
