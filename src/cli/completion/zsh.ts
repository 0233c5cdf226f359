/** The script for zsh. Pure. */
import { shellQuoted } from "../../terminal/shell-word.ts";
import { stepCases } from "./steps.ts";
import { type OptionWord, type Place, placeName } from "./words.ts";

export const zshScript = (places: readonly Place[]): string => `#compdef prooftrail
# zsh completion for prooftrail.
# Now:      source <(prooftrail completion zsh)
# For good: prooftrail completion zsh > a folder of $fpath, as _prooftrail

_prooftrail() {
  local place="" word i skip=0
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if ((skip)); then skip=0; continue; fi
    case "$place|$word" in
${places.flatMap(stepCases).join("\n")}
    esac
  done
  if ((skip)); then
    case "$place|$words[CURRENT-1]" in
${places.flatMap(valueCases).join("\n")}
    esac
    return
  fi
  local -a found
  case "$place" in
${places.map(placeCase).join("\n")}
  esac
}

if [[ $funcstack[1] == _prooftrail ]]; then _prooftrail "$@"; else compdef _prooftrail prooftrail; fi
`;

const valueCases = (place: Place): readonly string[] =>
  place.options
    .filter(({ value }) => value !== "none")
    .map(({ word, value }) => `      "${placeName(place)}|${word}") ${valueReply(value)} ;;`);

const valueReply = (value: OptionWord["value"]): string => {
  if (value === "file") return "_files";
  return typeof value === "string" ? "_message value" : `compadd -- ${value.join(" ")}`;
};

const placeCase = (place: Place): string => {
  const described = (words: readonly { word: string; says: string }[]): string =>
    words.map(({ word, says }) => `${shellQuoted(`${word.replaceAll(":", "\\:")}:${says}`)}`).join(" ");
  const plain = [...place.commands, ...place.choices.map((word) => ({ word, says: word }))];
  const rest = [
    ...(plain.length > 0 ? [`found=(${described(plain)}); _describe -t commands command found`] : []),
    ...(place.takesFiles ? ["_files"] : []),
  ];
  return `    "${placeName(place)}")
      if [[ $PREFIX == -* ]]; then found=(${described(place.options)}); _describe -o option found
      else ${rest.length > 0 ? rest.join("; ") : ":"}; fi ;;`;
};
