/** A part that is away must not delay others. */
import { pause } from "./background.ts";

/** The result, or undefined if it does not come in time or fails. */
export const inTime = async <Seen>(asked: Promise<Seen>, timeoutMs: number): Promise<Seen | undefined> => {
  const isOver = new AbortController();
  try {
    return await Promise.race([asked, pause(timeoutMs, isOver.signal).then(() => undefined)]);
  } catch {
    return undefined;
  } finally {
    isOver.abort();
  }
};
