/** What a thrown value says: anything can be thrown, and only errors have a message. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** With the stack, which a report of a fault of ours needs. */
export const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
