import { Type } from "@sinclair/typebox";
import { METADATA_JSON_CHARACTERS_MAX, METADATA_LIST_ITEMS_MAX } from "../../limits.ts";
import type { Latest } from "../kit/latest.ts";
import type { List } from "../kit/list.ts";
import { type Row, rowText } from "../store/tables.ts";
import { ASSESSMENT_STATES, ASSESSMENTS, CHECKLIST_ITEM, RISK_CHANGES } from "./tables.ts";

/** DOMAIN 3.5 asks for the seven items of Decree 28(1) without naming them, so they have the names that events use. */
const CHECKLIST = Type.Array(
  Type.Object({
    item: Type.String({ description: "As the event names it." }),
    state: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
      description:
        "What was said of it last; null where it was only named, or with nothing that can stand here: a list, or a number that no double holds, such as 1e400.",
    }),
  }),
  {
    maxItems: METADATA_LIST_ITEMS_MAX,
    description:
      "The content items of the assessment (for Korea the seven of Decree 28(1) of the AI Basic Act), by name, from `metadata.checklist`, `items` or `content_items` of its events: an object by item, or an array. Prooftrail adds none: what nobody named is not here.",
  },
);

const checklistOf = (row: Row): readonly unknown[] => {
  const said: Latest = JSON.parse(rowText(row, "said"));
  return Object.entries(said)
    .filter(([name]) => name.startsWith(CHECKLIST_ITEM))
    .map(([name, [state]]) => ({ item: name.slice(CHECKLIST_ITEM.length), state: JSON.parse(state) }));
};

export const assessmentList: List = {
  view: "assessments",
  table: ASSESSMENTS,
  orderBy: ["at", "assessment_id"],
  time: "the time of the first event about it",
  filters: ["asset_id", "state"],
  values: { state: ASSESSMENT_STATES },
  hidden: ["at", "said"],
  about: {
    valid_until:
      "As the events say it of the last completion; for a bias audit of which they do not, the date a year after it was completed, in New York (NYC Administrative Code § 20-871(a)). In coverage an audit ends with the earlier of the two.",
  },
  derived: { checklist: { schema: CHECKLIST, of: checklistOf } },
};

export const riskChangeList: List = {
  view: "assessments",
  table: RISK_CHANGES,
  orderBy: ["at", "event_id"],
  time: "when it changed",
  filters: ["asset_id"],
  times: ["at"],
  about: { at: "The time of the event that says so." },
  json: {
    input: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.String()], {
      description: `What was classified: \`metadata.input\` (or \`normalized_input\`, as the classification answers) of the event. Null where it says nothing, or more than ${METADATA_JSON_CHARACTERS_MAX} characters of JSON.`,
    }),
    clauses: Type.Array(Type.String(), {
      maxItems: METADATA_LIST_ITEMS_MAX,
      description:
        "Articles that the event names: `metadata.clauses` (or the `ref` of each of `cited_clauses`).",
    }),
  },
};
