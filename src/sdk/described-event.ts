/**
 * Events that a callback of the program describes. A fault of the callback does not reach the program: the event counts as dropped, which is reported.
 */
import { joinedMembers, membersOf, metadataOf } from "./json.ts";
import type { LooseRecorder } from "./recorder.ts";
import { type JsonObject, textOf } from "./values.ts";
import { isThenable } from "./watch-outcome.ts";

/** What a callback returns; if it throws, an event that is dropped takes the place of the result. */
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

/**
 * A recorder only reports faults that it finds in an event. So this event contains one on purpose: the recorder drops, counts and reports it with
 * this message.
 */
const undescribed = (message: string): JsonObject => ({
  metadata: {
    description: {
      get fault(): never {
        throw new Error(message);
      },
    },
  },
});

/** A member that is present stays as it is. Anything that is no event is passed on, and the recorder reports what is wrong with it. */
export const record = (recorder: LooseRecorder, event: unknown, filling: JsonObject): void => {
  if (event === undefined) return;
  recorder.capture(attempt("The description", () => withFilling(event, filling)));
};

const withFilling = (event: unknown, filling: JsonObject): unknown => {
  const members = membersOf(event);
  if (!members) return event;
  const { metadata = {} } = members;
  return { ...members, metadata: metadata ? joinedMembers(filling, metadataOf(metadata).members) : metadata };
};
