/** What tests of a file share, because starting it takes seconds: made when it is first asked for, and ended after the file (end-shared.ts). */

interface Shared {
  readonly end: () => Promise<void>;
}

const all = new Set<Shared>();

/** `make` is called once, until what it made has ended. */
export const sharedByTests = <Made extends AsyncDisposable>(
  make: () => Promise<Made>,
): (() => Promise<Made>) => {
  let made: Promise<Made> | undefined;
  const shared: Shared = {
    end: async () => {
      const ending = made;
      made = undefined;
      await (await ending)?.[Symbol.asyncDispose]();
    },
  };
  all.add(shared);
  return () => {
    made ??= make();
    return made;
  };
};

export const endShared = async (): Promise<void> => {
  await Promise.all([...all].map(({ end }) => end()));
};
