/** The texts by whose words an event is found: its asset, type, correlation, tags and all texts, numbers and booleans of its metadata. */
import type { EventFacts } from "../../event/facts.ts";
import { addWords, wordsAtMost } from "../../event/words.ts";
import { EVENT_WORDS_MAX, EVENT_WORDS_READ_MAX } from "../../limits.ts";

export const eventTexts = (facts: EventFacts): readonly string[] => {
  const texts = names(facts);
  const namesEnd = texts.length;
  addTexts(facts.metadata, texts);
  let atMost = 0;
  for (const text of texts) atMost += wordsAtMost(text);
  // Nearly all events have fewer.
  return atMost <= EVENT_WORDS_MAX ? texts : withFewerWords(texts, namesEnd);
};

/** The words of all names, and as many others as there is room for. */
const withFewerWords = (texts: readonly string[], namesEnd: number): readonly string[] => {
  const found: string[] = [];
  for (const name of texts.slice(0, namesEnd)) addWords(name, found, EVENT_WORDS_READ_MAX);
  const kept = new Set(found);
  for (const text of texts.slice(namesEnd)) addWords(text, found, EVENT_WORDS_READ_MAX);
  if (found.length <= EVENT_WORDS_MAX) return texts;
  for (const word of found) {
    if (kept.size >= EVENT_WORDS_MAX) break;
    kept.add(word);
  }
  // Every pair follows its two words, so that the joined text has the same words again.
  return [[...kept].join(" ")];
};

const names = ({ assetId, eventType, correlationId, tags }: EventFacts): string[] => {
  const found = [assetId, eventType];
  if (correlationId !== null) found.push(correlationId);
  for (const { key, value } of tags) found.push(key, value);
  return found;
};

/** Numbers and booleans as JavaScript writes them, as in tags. Names of members are not searched: they are the same in all events. */
const addTexts = (value: unknown, found: string[]): void => {
  if (typeof value === "string") found.push(value);
  else if (typeof value === "number" || typeof value === "boolean") found.push(String(value));
  else if (Array.isArray(value)) for (const item of value) addTexts(item, found);
  else if (typeof value === "object" && value !== null)
    for (const item of Object.values(value)) addTexts(item, found);
};
