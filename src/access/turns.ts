/** Work about one thing that must not overlap: each begins when the one before it about the same thing has ended, however that ended. */
export type TurnsAbout = <Result>(thing: string, work: () => Promise<Result>) => Promise<Result>;

export const createTurnsAbout = (): TurnsAbout => {
  const last = new Map<string, Promise<unknown>>();
  return async (thing, work) => {
    const before = last.get(thing);
    const turn = before === undefined ? work() : before.then(work, work);
    last.set(thing, turn);
    try {
      return await turn;
    } finally {
      if (last.get(thing) === turn) last.delete(thing);
    }
  };
};
