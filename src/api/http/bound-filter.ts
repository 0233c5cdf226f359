/** A filter in a request body, to which a token is bound: the parameters of a list by name, read by what reads the list's own. */
import type { BoundFilter } from "../../access/key-record.ts";
import { pointerToken } from "../../event/json-pointer.ts";
import type { RequestError } from "./problem.ts";
import { type Query, readQuery } from "./query.ts";

/** As JSON. A token carries its filter, and a request its token. */
const CHARACTERS_MAX = 2000;

export const queryOf = (filter: BoundFilter): Query =>
  readQuery(`http://localhost/?${new URLSearchParams(filter)}`);

/** What is wrong with the filter, as places in the body. */
export const filterErrors = (
  filter: BoundFilter,
  read: (query: Query) => unknown,
): readonly RequestError[] => {
  if (JSON.stringify(filter).length > CHARACTERS_MAX) {
    const message = `The filter has more than ${CHARACTERS_MAX} characters: send a shorter one.`;
    return [{ path: "/filter", code: "invalid_value", message }];
  }
  const query = queryOf(filter);
  read(query);
  return query.errors().map((error) => ({
    ...error,
    path: `/filter/${pointerToken(error.path.slice("query:".length))}`,
  }));
};
