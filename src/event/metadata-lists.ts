/** Values of `metadata` other than single texts: a list of texts, a checklist, the input of a rule. All are limited, because the views keep them. */
import { METADATA_JSON_CHARACTERS_MAX, METADATA_LIST_ITEMS_MAX } from "../limits.ts";
import { isObject, type JsonObject, metadataText, shortened } from "./facts.ts";

/** Keys of `metadata` under which an event names articles of law: ours, and that in an answer of the classification. */
export const CLAUSE_NAMES = ["clauses", "cited_clauses", "clause"] as const;

/**
 * The texts under the first of these names that has any: one text, an array of texts, or an array of objects that name a clause as `ref`. In their
 * order.
 */
export const metadataTexts = (metadata: JsonObject, ...names: readonly string[]): readonly string[] => {
  for (const name of names) {
    const value = metadata[name];
    const candidates: readonly unknown[] = Array.isArray(value) ? value : [value];
    const texts = candidates.flatMap((each) => textOf(each, "ref") ?? []).map((text) => shortened(text));
    if (texts.length > 0) return [...new Set(texts)].slice(0, METADATA_LIST_ITEMS_MAX);
  }
  return [];
};

/** The object or text under the first of these names that has one, as JSON; undefined if that is too long to keep. */
export const metadataJson = (metadata: JsonObject, ...names: readonly string[]): string | undefined => {
  for (const name of names) {
    const value = metadata[name];
    if (value === undefined || (!isObject(value) && typeof value !== "string")) continue;
    const text = JSON.stringify(value);
    return text.length <= METADATA_JSON_CHARACTERS_MAX ? text : undefined;
  }
  return undefined;
};

export interface ChecklistItem {
  readonly item: string;
  /** Null if the item is only named. */
  readonly state: string | number | boolean | null;
}

const ITEM_NAMES = ["item", "name", "id"] as const;
const STATE_NAMES = ["state", "status", "done", "checked", "completed", "value"] as const;

/**
 * The checklist under the first of these names that has one: an object by item, an array of items, or an array of objects that name item and state.
 * Each item once, the first ones by name, so that combining several gives the same result in any order.
 */
export const metadataChecklist = (
  metadata: JsonObject,
  ...names: readonly string[]
): readonly ChecklistItem[] => {
  for (const name of names) {
    const byName = new Map(checklistIn(metadata[name]).map((each) => [each.item, each]));
    if (byName.size > 0)
      return [...byName.values()]
        .sort((one, other) => (one.item < other.item ? -1 : 1))
        .slice(0, METADATA_LIST_ITEMS_MAX);
  }
  return [];
};

const checklistIn = (value: unknown): readonly ChecklistItem[] => {
  if (Array.isArray(value))
    return value.flatMap((each: unknown) => {
      const item = textOf(each, ...ITEM_NAMES);
      return item === undefined
        ? []
        : [{ item: shortened(item), state: isObject(each) ? stateOf(each) : null }];
    });
  if (!isObject(value)) return [];
  return Object.entries(value)
    .filter(([item]) => item !== "")
    .map(([item, said]) => ({ item: shortened(item), state: stateOf(said) }));
};

const stateOf = (value: unknown): ChecklistItem["state"] => {
  const said = isObject(value) ? STATE_NAMES.map((name) => value[name]).find(isSingle) : value;
  if (!isSingle(said)) return null;
  return typeof said === "string" ? shortened(said) : said;
};

const isSingle = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** A text, or the text of an object under one of these names. */
const textOf = (value: unknown, ...names: readonly string[]): string | undefined => {
  if (typeof value === "string") return value === "" ? undefined : value;
  return isObject(value) ? metadataText(value, ...names) : undefined;
};
