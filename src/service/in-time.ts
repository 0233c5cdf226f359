/** For who asks how things are: what is away must not keep the answer. */
import { pause } from "./background.ts";

/** Undefined where it is not known in time, or cannot be. */
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
