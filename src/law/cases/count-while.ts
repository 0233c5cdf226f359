/** How many items at the beginning satisfy the condition. After the first that does not, none may. */
export const countWhile = <Each>(all: readonly Each[], holds: (each: Each) => boolean): number => {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const each = all[middle];
    if (each !== undefined && holds(each)) low = middle + 1;
    else high = middle;
  }
  return low;
};
