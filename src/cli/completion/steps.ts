/** The common part of the scripts for bash and zsh: which typed word leads to which place in the command tree. Pure. */
import { type Place, placeName } from "./words.ts";

/** Branches of a `case`: words that go deeper into the tree, and options whose value is not a command. */
export const stepCases = (place: Place): readonly string[] => {
  const name = placeName(place);
  const deeper = place.commands.map(
    ({ word }) => `      "${name}|${word}") place="${[...place.path, word].join(" ")}" ;;`,
  );
  const valued = place.options.filter(({ value }) => value !== "none").map(({ word }) => `"${name}|${word}"`);
  return valued.length === 0 ? deeper : [...deeper, `      ${valued.join("|")}) skip=1 ;;`];
};
