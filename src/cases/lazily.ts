/** Once, and only where somebody asks. Most facts ask for nothing: of a long conversation none does. */
export const lazily = <Made>(make: () => Made): (() => Made) => {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
};
