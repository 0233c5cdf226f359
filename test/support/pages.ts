import type { Answer } from "./service.ts";

/** The rows of all pages of a list. `ask` gets what follows the question: nothing for the first page, then the cursor. */
export const allPages = async (ask: (cursor: string) => Promise<Answer>): Promise<Answer["json"][]> => {
  const rows: Answer["json"][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { status, json, text } = await ask(cursor && `&cursor=${encodeURIComponent(cursor)}`);
    if (status !== 200) throw new Error(text);
    rows.push(...json.data);
    cursor = json.next_cursor;
  }
  return rows;
};
