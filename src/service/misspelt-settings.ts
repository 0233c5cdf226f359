import { nearest } from "../event/nearest.ts";
import { ENVIRONMENT_NAMES, readConfig } from "./config.ts";

/**
 * A sentence for each variable that has nearly the name of a setting which is not set. Who misspells one, such as DATA_DIR, gets the default, and with it
 * another log; a value that is not understood stops the start, but nobody knows whose the other variables of an environment are.
 */
export const misspeltSettings = (
  variables: Readonly<Record<string, string | undefined>>,
): readonly string[] => {
  const unset = new Map(
    ENVIRONMENT_NAMES.filter((name) => variables[name] === undefined).map((name) => [
      name.toLowerCase(),
      name,
    ]),
  );
  const candidates = [...unset.keys()];
  return Object.keys(variables).flatMap((name) => {
    if (ENVIRONMENT_NAMES.includes(name) || isRoleOfOthers(name, variables[name])) return [];
    const near = nearest(
      name,
      candidates.filter((candidate) => !hasOtherWord(name.toLowerCase(), candidate)),
      NEAR,
    );
    return near === undefined
      ? []
      : [`${name} is no setting, and ${unset.get(near)} is not set: was that meant?`];
  });
};

/** With three letters for a fault PGHOST would be HOST; with three faults GEMINI_API_KEY would be ADMIN_API_KEY, and DATABASE_USER DATABASE_URL. */
const NEAR = { lettersPerFault: 4, faultsMax: 2 };

/** Of as many words one is another and not a misspelt one, as in NATS_SSL. */
const hasOtherWord = (name: string, setting: string): boolean => {
  const [words, others] = [name.split("_"), setting.split("_")];
  return (
    words.length === others.length &&
    words.some((word, index) => nearest(word, others.slice(index, index + 1), WORD_NEAR) === undefined)
  );
};
const WORD_NEAR = { lettersPerFault: 3, faultsMax: 2 };

/** Who starts containers may give each a ROLE of his own: one that ROLES could be is meant. */
const isRoleOfOthers = (name: string, value: string | undefined): boolean =>
  name === "ROLE" && readConfig({ ROLES: value }).kind === "invalid";
