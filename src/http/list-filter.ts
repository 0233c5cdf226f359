/** Query parameters that filter a list by its columns, and their documentation. */
import { shortened } from "../event/facts.ts";
import { canonicalEventId, isLegalBasis, isSha256 } from "../event/formats.ts";
import type { List } from "../projections/list.ts";
import type { Condition } from "../views/conditions.ts";
import { HASH_EXPECTED, HASH_SCHEMA, LEGAL_BASIS_EXPECTED, LEGAL_BASIS_SCHEMA } from "./event-filter.ts";
import type { Parameter } from "./openapi.ts";
import type { Query } from "./query.ts";
import { equalTo, parameter } from "./reading.ts";

type ListFilters = Pick<List, "filters" | "values" | "shortened">;

/** A value that no row can have is refused: a misspelt one would look like an empty list. */
export const readListFilter = (query: Query, list: ListFilters): readonly Condition[] =>
  list.filters.flatMap((name) => equalTo(name, valueAsked(query, list, name)));

const valueAsked = (
  query: Query,
  { values, shortened: charactersMax }: ListFilters,
  name: string,
): string | undefined => {
  const known = values?.[name];
  if (known) return query.oneOf(name, known);
  if (name === "subject_hash") return query.checked(name, isSha256, HASH_EXPECTED)?.toLowerCase();
  if (name === "law") return query.checked(name, isLegalBasis, LEGAL_BASIS_EXPECTED);
  const text = query.text(name);
  if (text === undefined) return undefined;
  const max = charactersMax?.[name];
  if (max !== undefined) return shortened(text, max);
  return NAMES.includes(name) ? canonicalEventId(text) : text;
};

const FORMS: Readonly<Record<string, Parameter["schema"]>> = {
  subject_hash: HASH_SCHEMA,
  law: LEGAL_BASIS_SCHEMA,
};

/** Columns whose names may be event_ids, and are compared in canonical form. */
const NAMES: readonly string[] = ["decision_id", "objection_id", "incident_id"];

export const listFilterParameters = ({
  filters,
  values,
  shortened: charactersMax,
}: ListFilters): readonly Parameter[] =>
  filters.map((name) => {
    const known = values?.[name];
    const max = charactersMax?.[name];
    const asShown = max === undefined ? "" : ` Of more than ${max} characters the first ones count.`;
    const schema: Parameter["schema"] | undefined = known
      ? { type: "string", enum: [...known] }
      : FORMS[name];
    return parameter(name, `Exactly this ${name}.${asShown}`, schema);
  });
