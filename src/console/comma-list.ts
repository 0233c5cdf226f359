/** Several values in one parameter: separated by commas, and a comma inside a value has a backslash before it. */

export const joined = (values: readonly string[]): string =>
  values.map((value) => value.replaceAll(/\\(?=[\\,])|,/g, "\\$&")).join(",");

export const valuesIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?:\\[\\,]|[^,])+/g)].map(([value]) => value.replaceAll(/\\([\\,])/g, "$1"));
