/** The words by which an event is found: those of its asset, type, correlation, tags and all texts, numbers and booleans of its metadata. */
import type { EventFacts } from "../../event/facts.ts";
import { addWords } from "../../event/words.ts";
import { EVENT_WORDS_MAX } from "../../limits.ts";

/** All words of its names, and as many others as there is room for. */
export const eventWords = (facts: EventFacts): readonly string[] => {
  const found = new Set<string>();
  for (const name of names(facts)) addWords(name, found);
  addAll(facts.metadata, found);
  return [...found];
};

const names = ({ assetId, eventType, correlationId, tags }: EventFacts): readonly string[] => [
  assetId,
  eventType,
  ...(correlationId === null ? [] : [correlationId]),
  ...tags.flatMap(({ key, value }) => [key, value]),
];

/** Numbers and booleans as JavaScript writes them, as in tags. Names of members are not searched: they are the same in all events. */
const addAll = (value: unknown, found: Set<string>): void => {
  if (typeof value === "string") addWords(value, found, EVENT_WORDS_MAX);
  else if (typeof value === "number" || typeof value === "boolean")
    addWords(String(value), found, EVENT_WORDS_MAX);
  else if (Array.isArray(value)) for (const item of value) addAll(item, found);
  else if (typeof value === "object" && value !== null)
    for (const item of Object.values(value)) addAll(item, found);
};
