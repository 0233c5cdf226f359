/** Runs asynchronous work without overlap: each starts when the one before it has ended, however it ended. */
export type Turns = <Result>(work: () => Promise<Result>) => Promise<Result>;

export const createTurns = (): Turns => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn;
    return turn;
  };
};
