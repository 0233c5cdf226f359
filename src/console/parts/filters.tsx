/** The filters of a list: a form that writes the address, and the address as removable pieces. */

import { addressHere, go, type Parameters, place } from "../address.ts";
import { joined, valuesIn } from "../comma-list.ts";
import { type LabelKind, labelOf, namesOf } from "../labels.ts";
import { timeOf } from "../language.ts";
import { isHash, subjectHash } from "../subject-hash.ts";
import { knownSystems, systemName } from "../systems.ts";
import { say, type Word } from "../words.ts";
import { shortHash } from "./said.tsx";

export type Filter = { readonly name: string; readonly title: Word } & (
  | { readonly kind: "text" | "day" | "person" | "system" | "systems" }
  /** Names with labels; only these, or all that have one. */
  | { readonly kind: "labels"; readonly labels: LabelKind; readonly only?: readonly string[] }
  | { readonly kind: "flag"; readonly on: Word }
) & {
    /** Leaves out what the filter of this title finds. */
    readonly isNot?: true;
    /** Has a field only while the address has it. */
    readonly isSeldom?: true;
  };

export const titleOf = ({ title, isNot }: Filter): string =>
  isNot ? say("filter_not", { f: say(title) }) : say(title);

/** The parameters of the address that are filters of this list. */
export const filtersAsked = (filters: readonly Filter[]): Parameters =>
  Object.fromEntries(
    filters.flatMap(({ name }) => {
      const value = place.value.parameters.get(name);
      return value === null || value === "" ? [] : [[name, value] as const];
    }),
  );

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A day of the form begins in the reader's zone; `to` is the end of its day. */
export const apiTime = (name: string, value: string): string => {
  if (!DAY.test(value)) return value;
  const [year = 0, month = 1, day = 1] = value.split("-").map(Number);
  return new Date(year, month - 1, day + (name.endsWith("to") ? 1 : 0)).toISOString();
};

/** As the API takes them. */
export const apiFilters = (filters: readonly Filter[]): Parameters =>
  Object.fromEntries(
    Object.entries(filtersAsked(filters)).map(([name, value]) => {
      const isDay = filters.some((filter) => filter.name === name && filter.kind === "day");
      return [name, isDay && value !== undefined ? apiTime(name, value) : value];
    }),
  );

const valuesOf = async (
  form: HTMLFormElement,
  filters: readonly Filter[],
  asked: Parameters,
): Promise<Parameters> => {
  const data = new FormData(form);
  const text = (name: string): string => String(data.get(name) ?? "").trim();
  const entries = filters.map(async ({ name, kind }) => {
    if (kind === "systems") return [name, joined(data.getAll(name).map(String))] as const;
    const value = text(name);
    // A field cannot show all that an address may hold, such as two hashes or a time with its seconds: what nobody changed stays.
    const before = asked[name] ?? "";
    if (value === (kind === "day" ? inputTime(before) : before)) return [name, before] as const;
    if (kind === "day" && value.includes("T")) return [name, new Date(value).toISOString()] as const;
    const isPerson = kind === "person" && value !== "";
    return [name, isPerson ? await subjectHash(value, text(secretOf(name))) : value] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
};

/** Has no place in an address. */
const secretOf = (name: string): string => `${name}_secret`;

/** A day, or a time of the reader's zone, as the inputs of HTML write them. */
const inputTime = (value: string): string => {
  if (value === "" || DAY.test(value) || Number.isNaN(Date.parse(value))) return value;
  const at = new Date(value);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, "2026-11-29T10:00".length);
};

export const FilterForm = ({ filters }: { readonly filters: readonly Filter[] }) => {
  const asked = filtersAsked(filters);
  const shown = filters.filter(({ name, isNot, isSeldom }) => asked[name] ?? !(isNot || isSeldom));
  const apply = async (form: HTMLFormElement): Promise<void> =>
    go(addressHere(await valuesOf(form, shown, asked)));
  return (
    <details class="filters" open={matchMedia("(min-width: 701px)").matches}>
      <summary>{say("filters")}</summary>
      <form
        onSubmit={(submit) => {
          submit.preventDefault();
          apply(submit.currentTarget);
        }}
        onChange={(change) => {
          if (change.target instanceof HTMLSelectElement && !change.target.multiple)
            apply(change.currentTarget);
        }}
      >
        {shown.map((filter) => (
          <Field key={filter.name} filter={filter} value={asked[filter.name] ?? ""} />
        ))}
        <button type="submit" class="plain">
          {say("apply")}
        </button>
      </form>
      <Chips filters={filters} />
    </details>
  );
};

const Field = ({ filter, value }: { readonly filter: Filter; readonly value: string }) => {
  if (filter.kind === "person") return <PersonField filter={filter} value={value} />;
  return (
    <div class="field">
      <label for={idOf(filter)}>{titleOf(filter)}</label>
      <Input filter={filter} value={value} />
    </div>
  );
};

const idOf = ({ name }: { readonly name: string }): string => `filter-${name}`;

const Input = ({ filter, value }: { readonly filter: Filter; readonly value: string }) => {
  switch (filter.kind) {
    case "day":
      return (
        <input
          id={idOf(filter)}
          name={filter.name}
          type={value === "" || DAY.test(value) ? "date" : "datetime-local"}
          value={inputTime(value)}
        />
      );
    case "labels": {
      const { labels, only } = filter;
      const names = only ?? namesOf(labels);
      return (
        <Choice
          name={filter.name}
          value={value}
          choices={names.map((name) => [name, labelOf(labels, name)])}
        />
      );
    }
    case "system":
      return (
        <Choice
          name={filter.name}
          value={value}
          choices={knownSystems().map(([id, label]) => [joined([id]), label])}
        />
      );
    case "systems":
      return <Systems name={filter.name} chosen={valuesIn(value)} />;
    case "flag":
      return <Choice name={filter.name} value={value} choices={[["true", say(filter.on)]]} />;
    default:
      return (
        <input
          id={idOf(filter)}
          name={filter.name}
          type="text"
          value={value}
          autocomplete="off"
          spellcheck={false}
        />
      );
  }
};

const Systems = ({ name, chosen }: { readonly name: string; readonly chosen: readonly string[] }) => {
  const known = knownSystems();
  const others = chosen.filter((id) => !known.some(([other]) => other === id)).map((id) => [id, id] as const);
  return (
    <select id={idOf({ name })} name={name} multiple size={4} title={say("several_hint")}>
      {[...others, ...known].map(([id, label]) => (
        <option key={id} value={id} selected={chosen.includes(id)}>
          {label}
        </option>
      ))}
    </select>
  );
};

/** An address may hold a value that is no choice, such as two states: it stays chosen. */
const Choice = (props: {
  readonly name: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
}) => {
  const isOther = props.value !== "" && !props.choices.some(([value]) => value === props.value);
  return (
    <select id={idOf(props)} name={props.name}>
      <option value="" selected={props.value === ""}>
        {say("any")}
      </option>
      {isOther && (
        <option value={props.value} selected>
          {props.value}
        </option>
      )}
      {props.choices.map(([value, label]) => (
        <option key={value} value={value} selected={value === props.value}>
          {label}
        </option>
      ))}
    </select>
  );
};

const PersonField = ({ filter, value }: { readonly filter: Filter; readonly value: string }) => (
  <div class="person">
    <label>
      {titleOf(filter)}
      <input
        name={filter.name}
        type="text"
        value={value}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={`${filter.name}-hint`}
      />
    </label>
    <small id={`${filter.name}-hint`}>{say("person_hint")}</small>
    <details>
      <summary>HMAC</summary>
      <label>
        {say("hash_key")}
        <input name={secretOf(filter.name)} type="password" autocomplete="off" />
      </label>
    </details>
  </div>
);

export const shownValue = (filter: Filter, value: string): string => {
  if (filter.kind === "labels")
    return value
      .split(",")
      .map((name) => labelOf(filter.labels, name))
      .join(", ");
  if (filter.kind === "system" || filter.kind === "systems")
    return valuesIn(value).map(systemName).join(", ");
  if (filter.kind === "day" && !DAY.test(value)) return timeOf(value);
  if (filter.kind === "flag") return say("yes");
  const values = valuesIn(value);
  return values.every(isHash) ? values.map(shortHash).join(", ") : value;
};

const Chips = ({ filters }: { readonly filters: readonly Filter[] }) => {
  const asked = filtersAsked(filters);
  const set = filters.flatMap((filter) => {
    const value = asked[filter.name];
    return value === undefined ? [] : [{ filter, value }];
  });
  if (set.length === 0) return null;
  return (
    <ul class="chips">
      {set.map(({ filter, value }) => (
        <li key={filter.name}>
          <a href={addressHere({ [filter.name]: undefined })} title={value}>
            {titleOf(filter)}: <bdi>{shownValue(filter, value)}</bdi>
            <span aria-hidden="true"> ×</span>
            <span class="unseen">. {say("remove_filter")}</span>
          </a>
        </li>
      ))}
    </ul>
  );
};
