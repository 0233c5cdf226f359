/** One timer, set to the earliest requested time. It does not keep the program alive. */
import { clearTimeout, setTimeout } from "node:timers";

export class WakeUp {
  readonly #call: () => void;
  #timer: { readonly handle: ReturnType<typeof setTimeout>; readonly atMs: number } | undefined;

  constructor(call: () => void) {
    this.#call = call;
  }

  /** Fires at this time (`performance.now()`), or earlier if an earlier time was requested. */
  at(atMs: number): void {
    if (this.#timer && this.#timer.atMs <= atMs) return;
    this.cancel();
    const handle = setTimeout(
      () => {
        this.#timer = undefined;
        this.#call();
      },
      Math.max(0, atMs - performance.now()),
    );
    handle.unref();
    this.#timer = { handle, atMs };
  }

  cancel(): void {
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#timer = undefined;
  }
}
