import { useState } from "preact/hooks";
import type { Word } from "../words.ts";

/** What to say about the last copy, and how to make one. */
export const useCopy = (): readonly [
  said: Word | undefined,
  copy: (field: HTMLInputElement | HTMLTextAreaElement) => Promise<void>,
] => {
  const [said, setSaid] = useState<Word>();
  const copy = async (field: HTMLInputElement | HTMLTextAreaElement): Promise<void> => {
    try {
      await navigator.clipboard.writeText(field.value);
      setSaid("copied");
    } catch {
      // Browsers keep the clipboard from pages over plain HTTP.
      field.select();
      setSaid("select_to_copy");
    }
  };
  return [said, copy];
};
