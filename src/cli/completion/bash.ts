/** The script for bash 4 or newer. Pure. */
import { stepCases } from "./steps.ts";
import { type Place, placeName } from "./words.ts";

export const bashScript = (places: readonly Place[]): string => `# bash completion for prooftrail.
# Now:      source <(prooftrail completion bash)
# For good: prooftrail completion bash > ~/.local/share/bash-completion/completions/prooftrail

_prooftrail() {
  # Not COMP_WORDS: bash cuts events:write at the colon there.
  local line=\${COMP_LINE:0:COMP_POINT} current before="" place="" word skip=0
  local -a words
  read -ra words <<< "$line"
  if [[ $line == *[[:space:]] ]]; then words+=(""); fi
  current=\${words[\${#words[@]}-1]}
  for word in "\${words[@]:1:\${#words[@]}-2}"; do
    before=$word
    if ((skip)); then skip=0; continue; fi
    case "$place|$word" in
${places.flatMap(stepCases).join("\n")}
    esac
  done
  COMPREPLY=()
  if ((skip)); then
    case "$place|$before" in
${places.flatMap(valueCases).join("\n")}
    esac
  else
    case "$place" in
${places.map(placeCase).join("\n")}
    esac
  fi
  # What stands before the last colon is a word of its own for bash, and stays.
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}")
  fi
}
complete -o default -F _prooftrail prooftrail
`;

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
    return [`      "${name}|${word}") ${reply} ;;`];
  });
};

const placeCase = (place: Place): string => {
  const plain = [...place.commands.map(({ word }) => word), ...place.choices].join(" ");
  const options = place.options.map(({ word }) => word).join(" ");
  // If nothing matches, bash offers files.
  const files = place.takesFiles ? "" : " compopt +o default;";
  return `    "${placeName(place)}")${files}
      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "${options}" -- "$current"))
      else COMPREPLY=($(compgen -W "${plain}" -- "$current")); fi ;;`;
};
