/** Computes once, and only on demand. Most facts need nothing of it; in a long conversation none does. */
export const lazily = <Made>(make: () => Made): (() => Made) => {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
};
