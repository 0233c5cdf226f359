/** What becomes of the fault of a callback that describes an event: the event counts as dropped, which is reported, and the program does not notice. */
import { isThenable } from "./watch-outcome.ts";

type Json = Readonly<Record<string, unknown>>;

/** What a callback gives; what it throws becomes an event that is dropped. */
export const attempt = (name: string, callback: () => unknown): unknown => {
  try {
    const given = callback();
    if (!isThenable(given)) return given;
    Promise.resolve(given).catch(() => {});
    return undescribed(`${name} gave a promise: it must give the event itself.`);
  } catch (error) {
    return undescribed(`${name} threw: ${textOf(error)}`);
  }
};

/** A recorder is told of a fault only by an event that it finds: in this one it does, and drops, counts and reports it with this message. */
export const undescribed = (message: string): Json => ({
  metadata: {
    description: {
      get fault(): never {
        throw new Error(message);
      },
    },
  },
});

export const textOf = (error: unknown): string => {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "something that cannot be written";
  }
};
