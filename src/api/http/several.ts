/** Filters that take several values: how they are written, read, and taken apart. */
import { FILTER_COMBINATIONS_MAX } from "../../limits.ts";
import type { Parameter } from "./openapi.ts";
import type { Query } from "./query.ts";
import { parameter } from "./reading.ts";

/** A filter that takes several values. */
export const severalParameter = (
  name: string,
  description: string,
  items: Parameter["schema"] = { type: "string", minLength: 1 },
): Parameter => ({
  ...parameter(name, `${description} ${SEVERAL}`, { type: "array", items }),
  style: "form",
  explode: false,
});

const SEVERAL = "Several values are separated by commas; a comma inside a value is written `\\,`.";

/** What the values of a parameter must be; an empty value would match nothing. */
export interface Form {
  readonly isValid: (value: string) => boolean;
  readonly expects: string;
}

/** The values of a parameter, each once and in one order; undefined if it is absent. */
export const several = (query: Query, name: string, form?: Form): readonly string[] | undefined =>
  query.read(name, (sent) => {
    const values = valuesIn(sent);
    const isValid = form?.isValid ?? ((value: string) => value !== "");
    if (values.every(isValid)) return { value: [...new Set(values)].sort() };
    if (form)
      return { message: `${name} is not valid: send ${form.expects}, or several separated by commas.` };
    return {
      message:
        sent === ""
          ? `${name} is empty: send a value, or leave it out.`
          : `${name} has an empty value: a comma stands between two values.`,
    };
  });

/** Split at each comma that has no backslash before it. A backslash before anything but a comma or a backslash is one itself. */
export const valuesIn = (text: string): readonly string[] => {
  const values: string[] = [];
  let value = "";
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? "";
    const next = text[index + 1];
    if (character === "\\" && (next === "," || next === "\\")) {
      value += next;
      index++;
    } else if (character === ",") {
      values.push(value);
      value = "";
    } else value += character;
  }
  return [...values, value];
};

/** The same values, as a request writes them. */
export const valuesText = (values: readonly string[]): string =>
  values.map((value) => value.replaceAll(/[\\,]/g, "\\$&")).join(",");

/** A closed set. */
export const oneOf = (choices: readonly string[]): Form => ({
  isValid: (value) => choices.includes(value),
  expects: `one of ${choices.join(", ")}`,
});

/**
 * One value of each filter, in every combination: a database answers each from an index, in order. More combinations than are answered are
 * refused.
 */
export const combinations = <Choice>(
  query: Query,
  choices: readonly { readonly name: string; readonly values: readonly Choice[] }[],
): readonly (readonly Choice[])[] => {
  const count = choices.reduce((product, { values }) => product * values.length, 1);
  if (count > FILTER_COMBINATIONS_MAX) {
    const [longest] = choices.toSorted((one, other) => other.values.length - one.values.length);
    query.refuse(
      longest?.name ?? "",
      `The values of the filters make ${count} combinations, and at most ${FILTER_COMBINATIONS_MAX} are answered at once: ask for fewer values.`,
    );
    return [];
  }
  return choices.reduce<readonly (readonly Choice[])[]>(
    (made, { values }) => made.flatMap((before) => values.map((value) => [...before, value])),
    [[]],
  );
};
