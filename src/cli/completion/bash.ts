/** The script for bash 4 or newer. Pure. */
import type { Place } from "./words.ts";

export const bashScript = (places: readonly Place[]): string => `# bash completion for prooftrail.
# Now:      source <(prooftrail completion bash)
# For good: prooftrail completion bash > ~/.local/share/bash-completion/completions/prooftrail

_prooftrail() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} place="" word i skip=0
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((skip)); then skip=0; continue; fi
    case "$place|$word" in
${places.flatMap(stepCases).join("\n")}
    esac
  done
  COMPREPLY=()
  case "$place|$before" in
${places.flatMap(valueCases).join("\n")}
  esac
  case "$place" in
${places.map(placeCase).join("\n")}
  esac
}
complete -o default -F _prooftrail prooftrail
`;

const placeName = ({ path }: Place): string => path.join(" ");

/** Words that go deeper into the tree, and options whose value is no command. */
const stepCases = (place: Place): readonly string[] => {
  const name = placeName(place);
  const deeper = place.commands.map(
    ({ word }) => `      "${name}|${word}") place="${[...place.path, word].join(" ")}" ;;`,
  );
  const valued = place.options.filter(({ value }) => value !== "none").map(({ word }) => `"${name}|${word}"`);
  return valued.length === 0 ? deeper : [...deeper, `      ${valued.join("|")}) skip=1 ;;`];
};

const valueCases = (place: Place): readonly string[] => {
  const name = placeName(place);
  return place.options.flatMap(({ word, value }) => {
    if (value === "none") return [];
    const reply =
      value === "any"
        ? "compopt +o default"
        : value === "file"
          ? ":"
          : `COMPREPLY=($(compgen -W "${value.join(" ")}" -- "$current"))`;
    return [`    "${name}|${word}") ${reply}; return ;;`];
  });
};

const placeCase = (place: Place): string => {
  const plain = [...place.commands.map(({ word }) => word), ...place.choices].join(" ");
  const options = place.options.map(({ word }) => word).join(" ");
  // Nothing found leaves it to bash, which offers files.
  const files = place.takesFiles ? "" : " compopt +o default;";
  return `    "${placeName(place)}")${files}
      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "${options}" -- "$current"))
      else COMPREPLY=($(compgen -W "${plain}" -- "$current")); fi ;;`;
};
