/** Those who wait until something is so. They look when they are told to: nothing is asked for in the meantime. */
import { clearTimeout, setTimeout } from "node:timers";

/** The longest that a timer can wait; what is longer would end at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class Waiting {
  readonly #looks = new Set<() => void>();

  /** Something may have changed. */
  look(): void {
    for (const look of [...this.#looks]) look();
  }

  /** Resolves when it is so, or when the time is over. */
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
      // Not unref'd: who waits wants the process to live that long.
      const timer = setTimeout(end, Math.min(timeoutMs, TIMER_MS_MAX));
      this.#looks.add(look);
      look();
    });
  }
}
