/** A form that makes the body of a request. Each field names its member, and shows what the service says against it. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Answer, type Failure, OFFLINE } from "../api.ts";
import { say, type Word } from "../words.ts";
import { apiTime } from "./filters.tsx";

export interface FormField {
  /** Where its value stands in the body, such as `/covers/from`. */
  readonly path: string;
  readonly title: string;
  /** A day is its beginning or its end in the reader's zone. Text if left out. */
  readonly kind?: "number" | "from" | "to" | "choice" | "several";
  readonly choices?: readonly (readonly [value: string, label: string])[];
  readonly value?: string | number | undefined;
  readonly hint?: Word;
  readonly isRequired?: true;
  /** Those of one group stand under it, after the ones without. */
  readonly group?: string;
}

type Body = { [member: string]: unknown };

const valueIn = (data: FormData, { path, kind }: FormField): unknown => {
  const value = String(data.get(path) ?? "").trim();
  if (kind === "several") return data.getAll(path);
  if (kind === "from" || kind === "to") return value && apiTime(kind, value);
  return kind === "number" && value !== "" ? Number(value) : value;
};

/** What was not filled in is left out. */
const bodyOf = (form: HTMLFormElement, fields: readonly FormField[]): object => {
  const data = new FormData(form);
  const body: Body = {};
  for (const field of fields) {
    const value = valueIn(data, field);
    if (value === "" || (Array.isArray(value) && value.length === 0)) continue;
    const names = field.path.slice(1).split("/");
    const last = names.pop() ?? "";
    let at: Body = body;
    for (const name of names) {
      const next: Body = Object(at[name] ?? {});
      at[name] = next;
      at = next;
    }
    at[last] = value;
  }
  return body;
};

const errorAt = (failure: Failure | undefined, path: string): string =>
  (failure?.errors ?? [])
    .filter((error) => error.path === path || error.path.startsWith(`${path}/`))
    .map(({ message }) => message)
    .join(" ");

export const RequestForm = (props: {
  readonly fields: readonly FormField[];
  /** What its button does. */
  readonly word: Word;
  readonly send: (body: object) => Promise<Answer<unknown>>;
  /** The other way. */
  readonly back?: ComponentChildren;
  readonly onChange?: (form: HTMLFormElement) => void;
}) => {
  const { fields, word, send, back, onChange } = props;
  const [failure, setFailure] = useState<Failure>();
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const answer = await send(bodyOf(form, fields));
    setFailure(answer.kind === "failed" ? answer : undefined);
  };
  const groups = [...new Set(fields.map(({ group }) => group))];
  return (
    <form
      class="record"
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget);
      }}
      onChange={({ currentTarget }) => onChange?.(currentTarget)}
    >
      {groups.map((group) => {
        const members = fields
          .filter((field) => field.group === group)
          .map((field) => <Field key={field.path} field={field} error={errorAt(failure, field.path)} />);
        if (group === undefined) return members;
        return (
          <fieldset key={group}>
            <legend>{group}</legend>
            {members}
          </fieldset>
        );
      })}
      {failure && <Refusal failure={failure} fields={fields} />}
      <p class="actions">
        {back}
        <button type="submit">{say(word)}</button>
      </p>
    </form>
  );
};

/** What the service says about no field. */
const Refusal = (props: { readonly failure: Failure; readonly fields: readonly FormField[] }) => {
  const { errors = [], detail, code } = props.failure;
  const isShown = (error: (typeof errors)[number]): boolean =>
    props.fields.some(({ path }) => errorAt({ ...props.failure, errors: [error] }, path) !== "");
  const others = errors.filter((error) => !isShown(error)).map(({ message }) => message);
  const text = errors.length > 0 ? others.join(" ") || say("form_fields_wrong") : detail;
  return (
    <p role="alert" class="refusal">
      {code === OFFLINE.code ? say("offline") : text}
    </p>
  );
};

const Field = ({ field, error }: { readonly field: FormField; readonly error: string }) => {
  // A dialog may have a field of the same name as the page.
  const id = useId();
  const { path, title, hint } = field;
  const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  return (
    <div class="record-field">
      <label for={id}>{title}</label>
      <Input
        field={field}
        attributes={{ id, name: path, "aria-invalid": error !== "", "aria-describedby": about }}
      />
      {hint && <small id={`${id}-hint`}>{say(hint)}</small>}
      {error && (
        <small id={`${id}-error`} class="refusal">
          {error}
        </small>
      )}
    </div>
  );
};

const SEVERAL_ROWS = 6;

const Input = (props: {
  readonly field: FormField;
  readonly attributes: {
    readonly id: string;
    readonly name: string;
    readonly "aria-invalid": boolean;
    readonly "aria-describedby": string | undefined;
  };
}) => {
  const { kind, choices = [], value, isRequired = false } = props.field;
  const attributes = { ...props.attributes, required: isRequired };
  const given = { ...attributes, defaultValue: value, autocomplete: "off", spellcheck: false };
  switch (kind) {
    case "number":
      return <input {...given} type="number" />;
    case "from":
    case "to":
      return <input {...given} type="date" />;
    case "choice":
    case "several":
      return (
        <select {...attributes} {...(kind === "several" && { multiple: true, size: SEVERAL_ROWS })}>
          {choices.map(([name, label]) => (
            <option key={name} value={name} selected={name === String(value)}>
              {label}
            </option>
          ))}
        </select>
      );
    default:
      return <input {...given} type="text" />;
  }
};

/** A question over the page. The browser keeps the focus inside, closes it with Escape, and gives the focus back. */
export const Dialog = (props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: (close: () => void) => ComponentChildren;
}) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={props.onClose}>
      <h2 id={id}>{props.title}</h2>
      {props.children(() => dialog.current?.close())}
    </dialog>
  );
};

/** A form in a dialog, which closes once it is answered. */
export const FormDialog = (props: {
  readonly title: string;
  readonly says: readonly string[];
  readonly fields?: readonly FormField[];
  readonly word: Word;
  readonly send: (body: object) => Promise<Answer<unknown>>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) => (
  <Dialog title={props.title} onClose={props.onClose}>
    {(close) => (
      <>
        {props.says.map((text) => (
          <p key={text}>{text}</p>
        ))}
        <RequestForm
          fields={props.fields ?? []}
          word={props.word}
          send={async (body) => {
            const answer = await props.send(body);
            if (answer.kind === "failed") return answer;
            close();
            props.onDone();
            return answer;
          }}
          back={<CloseButton word="cancel" close={close} />}
        />
      </>
    )}
  </Dialog>
);

export const CloseButton = ({ word, close }: { readonly word: Word; readonly close: () => void }) => (
  <button type="button" class="plain" onClick={close}>
    {say(word)}
  </button>
);
