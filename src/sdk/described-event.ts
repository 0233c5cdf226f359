/**
 * Events that a callback of the program describes. A fault of the callback does not reach the program: the event counts as dropped, which is reported.
 */
import { textOf } from "./error-text.ts";
import { joinedMembers, membersOf } from "./json-members.ts";
import type { JsonObject } from "./json-object.ts";
import type { LooseRecorder } from "./recorder.ts";
import { isThenable } from "./watch-outcome.ts";

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
export const undescribed = (message: string): JsonObject => ({
  metadata: {
    description: {
      get fault(): never {
        throw new Error(message);
      },
    },
  },
});

/** Where a member is said it stays. What is no event is handed on: the recorder says what is wrong with it. */
export const record = (recorder: LooseRecorder, event: unknown, filling: JsonObject): void => {
  if (event === undefined) return;
  recorder.capture(attempt("The description", () => withFilling(event, filling)));
};

const withFilling = (event: unknown, filling: JsonObject): unknown => {
  const members = membersOf(event);
  if (!members) return event;
  const { metadata = {} } = members;
  return { ...members, metadata: joinedMembers(filling, metadata) };
};
