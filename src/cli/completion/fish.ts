/** The script for fish. Pure. */
import { type Place, placeName } from "./words.ts";

export const fishScript = (places: readonly Place[]): string => `# fish completion for prooftrail.
# Now:      prooftrail completion fish | source
# For good: prooftrail completion fish > ~/.config/fish/completions/prooftrail.fish

function __prooftrail_place
  set -l place ""
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    switch "$place|$word"
${places.flatMap(stepCases).join("\n")}
    end
  end
  test "$place" = "$argv[1]"
end

complete -c prooftrail -f
${places.flatMap(placeLines).join("\n")}
`;

const stepCases = (place: Place): readonly string[] => {
  const name = placeName(place);
  const deeper = place.commands.map(
    ({ word }) => `      case '${name}|${word}'\n        set place '${[...place.path, word].join(" ")}'`,
  );
  const valued = place.options.filter(({ value }) => value !== "none").map(({ word }) => `'${name}|${word}'`);
  return valued.length === 0 ? deeper : [...deeper, `      case ${valued.join(" ")}\n        set skip 1`];
};

const placeLines = (place: Place): readonly string[] => {
  const here = `complete -c prooftrail -n "__prooftrail_place '${placeName(place)}'"`;
  return [
    ...place.commands.map(({ word, says }) => `${here} -a ${word} -d ${quoted(says)}`),
    ...place.choices.map((word) => `${here} -a ${word}`),
    ...(place.takesFiles ? [`${here} -F`] : []),
    ...place.options.map(({ word, says, value }) => {
      const takes =
        value === "none"
          ? ""
          : value === "any"
            ? " -x"
            : value === "file"
              ? " -r -F"
              : ` -x -a ${quoted(value.join(" "))}`;
      return `${here} -l ${word.slice(2)}${takes} -d ${quoted(says)}`;
    }),
  ];
};

/** In single quotation marks only the backslash and the quotation mark have a special meaning. */
const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
