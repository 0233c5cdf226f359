/**
 * Runs the clients' actions at the end of the program. All clients share one listener of each kind, because Node warns of a leak at more than ten.
 */
import process from "node:process";

class ProgramEnd {
  readonly #event: "beforeExit" | "exit";
  readonly #calls = new Set<() => void>();
  readonly #run = () => {
    for (const call of [...this.#calls]) {
      this.drop(call);
      call();
    }
  };

  constructor(event: "beforeExit" | "exit") {
    this.#event = event;
  }

  /** Registers an action to be called once. */
  call(call: () => void): void {
    if (this.#calls.size === 0) process.on(this.#event, this.#run);
    this.#calls.add(call);
  }

  drop(call: () => void): void {
    if (this.#calls.delete(call) && this.#calls.size === 0) process.off(this.#event, this.#run);
  }
}

export const programEnd = {
  /** The event loop has nothing left to do; work that starts now is still waited for. */
  beforeExit: new ProgramEnd("beforeExit"),
  /** Nothing is waited for any more. */
  exit: new ProgramEnd("exit"),
};
