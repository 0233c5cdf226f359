/** One field of the form that records what happened. */
import { labelOf, namesOf } from "../labels.ts";
import type { RecordField } from "../record-forms.ts";
import { knownSystems } from "../systems.ts";
import { say } from "../words.ts";

export const PERSON: RecordField = { name: "subject_hash", title: "person", kind: "text" };

export const RecordInput = (props: {
  readonly field: RecordField;
  readonly value: string;
  readonly error: string | undefined;
}) => {
  const { field, value, error } = props;
  const { name, title, isRequired } = field;
  const id = `record-${name}`;
  const hints = [...(name === PERSON.name ? [`${id}-hint`] : []), ...(error ? [`${id}-error`] : [])].join(
    " ",
  );
  return (
    <div class="record-field">
      <label for={id}>
        {say(title)}
        {isRequired && <span aria-hidden="true"> *</span>}
      </label>
      <Control
        field={field}
        value={value}
        attributes={{
          ...{ id, name, required: isRequired === true, "aria-invalid": error !== undefined },
          "aria-describedby": hints || undefined,
        }}
      />
      {name === PERSON.name && <small id={`${id}-hint`}>{say("person_hint")}</small>}
      {error && (
        <small id={`${id}-error`} class="refusal">
          {error}
        </small>
      )}
    </div>
  );
};

const Control = (props: {
  readonly field: RecordField;
  readonly value: string;
  readonly attributes: {
    readonly id: string;
    readonly name: string;
    readonly required: boolean;
    readonly "aria-invalid": boolean;
    readonly "aria-describedby": string | undefined;
  };
}) => {
  const { field, value, attributes } = props;
  const choices = choicesOf(field);
  if (choices === undefined) return <Input kind={field.kind} {...{ attributes, value }} />;
  const isOther = value !== "" && !choices.some(([name]) => name === value);
  return (
    <select {...attributes}>
      <option value="">{say("record_choose")}</option>
      {isOther && (
        <option value={value} selected>
          {value}
        </option>
      )}
      {choices.map(([name, label]) => (
        <option key={name} value={name} selected={name === value}>
          {label}
        </option>
      ))}
    </select>
  );
};

const Input = (
  props: Pick<RecordField, "kind"> & Pick<Parameters<typeof Control>[0], "value" | "attributes">,
) => {
  const given = { ...props.attributes, value: props.value, autocomplete: "off", spellcheck: false };
  switch (props.kind) {
    case "number":
      return <input {...given} type="number" />;
    case "day":
      return <input {...given} type="date" />;
    case "time":
      return <input {...given} type="datetime-local" />;
    case "text":
      return <input {...given} type="text" />;
  }
};

/** Names of the vocabulary that no event may have: they stand for several laws, or none. */
const NO_LAWS: readonly string[] = ["any", "policy"];

const choicesOf = ({
  name,
  labels,
  choices,
}: RecordField): readonly (readonly [string, string])[] | undefined => {
  if (name === "asset_id") return knownSystems().length === 0 ? undefined : knownSystems();
  if (choices) return Object.entries(choices).map(([value, word]) => [value, say(word)]);
  if (labels === undefined) return undefined;
  return namesOf(labels)
    .filter((value) => !NO_LAWS.includes(value))
    .map((value) => [value, labelOf(labels, value)]);
};
