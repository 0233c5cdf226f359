import { nearest } from "../event/nearest.ts";
import { ENVIRONMENT_NAMES, readConfig } from "./config.ts";

/**
 * A sentence for each variable whose name is nearly that of a setting that is not set. A misspelt DATA_DIR, for example, means the default
 * folder, and so another log. It is only a warning, because other variables of the environment may belong to anybody.
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

/**
 * One fault per four letters: with three, PGHOST would match HOST. At most two faults: with three, GEMINI_API_KEY would match
 * ADMIN_API_KEY, and DATABASE_USER DATABASE_URL.
 */
const NEAR = { lettersPerFault: 4, faultsMax: 2 };

/** Both names have as many words, and one word is a different one and not misspelt, as in NATS_SSL. */
const hasOtherWord = (name: string, setting: string): boolean => {
  const [words, others] = [name.split("_"), setting.split("_")];
  return (
    words.length === others.length &&
    words.some((word, index) => nearest(word, others.slice(index, index + 1), WORD_NEAR) === undefined)
  );
};
const WORD_NEAR = { lettersPerFault: 3, faultsMax: 2 };

/** Container platforms may set a ROLE of their own. It is reported only if ROLES could have its value. */
const isRoleOfOthers = (name: string, value: string | undefined): boolean =>
  name === "ROLE" && readConfig({ ROLES: value }).kind === "invalid";
