/** Callers that wait for a condition. The condition is checked only when `look` is called; nothing is polled. */
import { clearTimeout, setTimeout } from "node:timers";

/** The longest delay of a timer; with a longer one it would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class Waiting {
  readonly #looks = new Set<() => void>();

  /** Checks the conditions: something may have changed. */
  look(): void {
    for (const look of [...this.#looks]) look();
  }

  /** Resolves when the condition holds, or when the time is over. */
  until(isSo: () => boolean, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#looks.delete(look);
        resolve();
      };
      const look = () => {
        if (isSo()) end();
      };
      // Not unref'd: a caller that waits wants the process to live that long.
      const timer = setTimeout(end, Math.min(timeoutMs, TIMER_MS_MAX));
      this.#looks.add(look);
      look();
    });
  }
}
