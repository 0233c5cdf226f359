/** The filters as one line of text, in step with the form: both show what the address asks for. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { addressHere, go } from "../address.ts";
import { EVENT_FILTERS } from "../event-filters.ts";
import { labelOf, namesOf } from "../labels.ts";
import {
  completionsOf,
  type KnownValues,
  LINE_NAMES,
  type ParsedLine,
  parseLine,
  printLine,
} from "../query-line.ts";
import { knownSystems } from "../systems.ts";
import { say } from "../words.ts";
import { filtersAsked } from "./filters.tsx";

const known: KnownValues = (name) => {
  const labelled = (kind: "event_types" | "risk_tiers" | "laws") =>
    namesOf(kind).map((each) => [each, labelOf(kind, each)] as const);
  switch (name) {
    case "asset_id":
      return knownSystems();
    case "event_type": {
      const groups = namesOf("event_groups").map(
        (each) => [`${each}.*`, labelOf("event_groups", each)] as const,
      );
      return [...groups, ...labelled("event_types")];
    }
    case "risk_tier":
      return labelled("risk_tiers");
    case "legal_basis":
      return labelled("laws");
    default:
      return [];
  }
};

export const QueryLine = () => {
  const printed = printLine(filtersAsked(EVENT_FILTERS));
  const [wrong, setWrong] = useState<Extract<ParsedLine, { readonly kind: "wrong" }>>();
  const id = useId();
  // A new address brings a new line.
  useEffect(() => setWrong(undefined), [printed]);
  const apply = (input: HTMLInputElement): void => {
    const parsed = parseLine(input.value);
    setWrong(parsed.kind === "wrong" ? parsed : undefined);
    if (parsed.kind === "terms") {
      input.value = printLine(parsed.terms);
      go(addressHere(parsed.terms));
      return;
    }
    input.focus();
    input.setSelectionRange(parsed.from, parsed.from + parsed.text.length);
  };
  return (
    <search class="query-line">
      <label for={id}>{say("query_line")}</label>
      <LineInput id={id} printed={printed} isWrong={wrong !== undefined} apply={apply} />
      <p id={`${id}-wrong`} role="alert" class="refusal">
        {wrong && (
          <>
            <bdi>
              <code>{wrong.text}</code>
            </bdi>{" "}
            {say(`line_${wrong.problem}`, { f: LINE_NAMES.join(", ") })}
          </>
        )}
      </p>
    </search>
  );
};

/** A combobox with a list, as WAI-ARIA describes it: the focus stays in the line. */
const LineInput = (props: {
  readonly id: string;
  readonly printed: string;
  readonly isWrong: boolean;
  readonly apply: (input: HTMLInputElement) => void;
}) => {
  const { id, printed, apply } = props;
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string>();
  const [active, setActive] = useState(-1);
  useEffect(() => {
    if (input.current) input.current.value = printed;
  }, [printed]);
  const choices = typed === undefined ? [] : completionsOf(typed, known);
  const show = (field: HTMLInputElement): void => {
    setTyped(field.value.slice(0, field.selectionStart ?? undefined));
    setActive(-1);
  };
  const choose = (field: HTMLInputElement, line: string): void => {
    const rest = field.value.slice(typed?.length);
    field.value = line + rest.trimStart();
    field.setSelectionRange(line.length, line.length);
    show(field);
  };
  const press = (key: KeyboardEvent, field: HTMLInputElement): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key.key];
    if (step !== undefined && choices.length > 0)
      setActive((active + step + choices.length + Number(active < 0 && step < 0)) % choices.length);
    else if (step !== undefined) show(field);
    else if (key.key === "Escape" && choices.length > 0) setTyped(undefined);
    else if (key.key === "Enter") {
      const choice = choices[active];
      if (choice) choose(field, choice.line);
      else {
        setTyped(undefined);
        apply(field);
      }
    } else return;
    key.preventDefault();
  };
  return (
    <div class="combobox">
      <input
        ref={input}
        id={id}
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        autocapitalize="off"
        placeholder="asset_id:… -event_type:decision.*"
        aria-expanded={choices.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
        aria-autocomplete="list"
        aria-invalid={props.isWrong}
        aria-describedby={`${id}-wrong`}
        onInput={({ currentTarget }) => show(currentTarget)}
        onKeyDown={(key) => press(key, key.currentTarget)}
        onBlur={() => setTyped(undefined)}
      />
      <div id={`${id}-list`} role="listbox" aria-label={say("completions")} hidden={choices.length === 0}>
        {choices.map(({ text, label, line }, index) => (
          // The keyboard chooses in the input, which keeps the focus.
          <div
            key={text}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onMouseDown={(press) => {
              press.preventDefault();
              if (input.current) choose(input.current, line);
            }}
          >
            <code>{text}</code> {label !== text && <bdi>{label}</bdi>}
          </div>
        ))}
      </div>
    </div>
  );
};
