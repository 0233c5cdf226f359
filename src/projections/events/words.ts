/** The words that an event is found by: of its asset, type, correlation, tags and all texts and numbers of its metadata. */
import type { EventFacts } from "../../event/facts.ts";
import { addWords } from "../../event/words.ts";
import { EVENT_WORDS_MAX, EVENT_WORDS_READ_MAX } from "../../limits.ts";

export const eventWords = (facts: EventFacts): readonly string[] => {
  const found: string[] = [];
  const take = (text: string): void => addWords(text, found, EVENT_WORDS_READ_MAX);
  for (const name of names(facts)) take(name);
  const namesEnd = found.length;
  addTexts(facts.metadata, take);
  // Nearly all events have less. Repetitions stay: they do no harm in a database, and to look for them takes longer (measured).
  if (found.length <= EVENT_WORDS_MAX) return found;
  const kept = new Set(found.slice(0, namesEnd));
  for (const word of found) {
    if (kept.size >= EVENT_WORDS_MAX) break;
    kept.add(word);
  }
  return [...kept];
};

const names = ({ assetId, eventType, correlationId, tags }: EventFacts): readonly string[] => {
  const found = [assetId, eventType];
  if (correlationId !== null) found.push(correlationId);
  for (const { key, value } of tags) found.push(key, value);
  return found;
};

/** Numbers as JavaScript writes them, as in tags. Names of members are not searched: they are the same in all events. */
const addTexts = (value: unknown, take: (text: string) => void): void => {
  if (typeof value === "string") take(value);
  else if (typeof value === "number") take(String(value));
  else if (Array.isArray(value)) for (const item of value) addTexts(item, take);
  else if (typeof value === "object" && value !== null)
    for (const item of Object.values(value)) addTexts(item, take);
};
