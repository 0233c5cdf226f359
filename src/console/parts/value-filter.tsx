/** From a value to the events that have it, and to those that have another one. */
import { useId, useState } from "preact/hooks";
import { addressOf, place } from "../address.ts";
import type { StoredEvent } from "../answers.ts";
import { joined } from "../comma-list.ts";
import { type EventValue, valuesOfEvent } from "../event-filters.ts";
import { chosen } from "../query-line.ts";
import { say } from "../words.ts";
import { shownValue, titleOf } from "./filters.tsx";
import { eventTitle } from "./said.tsx";

const SHOWN_CHARACTERS_MAX = 60;

const textOf = ({ filter, value }: EventValue): string => {
  const text = shownValue(filter, joined([value]));
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text;
};

/** On the screen Events the other filters stay. */
export const OnlyOrNot = (of: EventValue) => {
  const { screen, parameters } = place.value;
  const kept = screen === "events" ? { ...Object.fromEntries(parameters), cursor: undefined } : {};
  return (
    <span class="only-or-not">
      {(["only", "not"] as const).map((choice) => (
        <a key={choice} href={addressOf("events", chosen(kept, choice, of.filter.name, of.value))}>
          {say(`value_${choice}`)}
          <span class="unseen">
            {" "}
            {titleOf(of.filter)}: <bdi>{textOf(of)}</bdi>
          </span>
        </a>
      ))}
    </span>
  );
};

/** One stop of the Tab key per row, however many values the row has. */
export const RowValues = ({ stored }: { readonly stored: StoredEvent }) => {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="row-values" popovertarget={id}>
        <span aria-hidden="true">⋯</span>
        <span class="unseen">{say("filter_by_row", { e: eventTitle(stored.event) })}</span>
      </button>
      <div
        id={id}
        popover="auto"
        class="values"
        onBeforeToggle={({ newState }) => setOpen(newState === "open")}
      >
        {isOpen && (
          <dl>
            {valuesOfEvent(stored).map((of) => (
              <div key={`${of.filter.name} ${of.value}`}>
                <dt>{titleOf(of.filter)}</dt>
                <dd>
                  <bdi title={of.value}>{textOf(of)}</bdi> <OnlyOrNot {...of} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
    </>
  );
};
