/** What clients do when the program ends. They share a listener of each kind: more than ten of one kind Node takes for a leak, and says so. */
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

  /** Calls it once. */
  call(call: () => void): void {
    if (this.#calls.size === 0) process.on(this.#event, this.#run);
    this.#calls.add(call);
  }

  drop(call: () => void): void {
    if (this.#calls.delete(call) && this.#calls.size === 0) process.off(this.#event, this.#run);
  }
}

export const programEnd = {
  /** The loop has run dry: what is begun now is waited for. */
  beforeExit: new ProgramEnd("beforeExit"),
  /** Nothing is waited for any more. */
  exit: new ProgramEnd("exit"),
};
