/** The port that writes administrative actions to the log before they are done. src/access/administration turns them into events. */
import type { Principal } from "./authenticate.ts";

export interface Actor {
  readonly principal: Principal;
  readonly requestId: string;
}

/** The actor's key was revoked or expired since its request began: nothing was done. */
export class KeyEndedError extends Error {
  override readonly name = "KeyEndedError";
}

export type ActionResult =
  | { readonly kind: "written" }
  /** Somebody else wrote first; nothing was changed. */
  | { readonly kind: "conflict" }
  /** Result unknown. */
  | { readonly kind: "unavailable"; readonly detail: string };

export interface ActionRecorder<Action> {
  /**
   * Appends the event of the action, and calls `work` once it is stored. If it cannot be stored nothing is done, and the answer is
   * `unavailable`. If `work` does not write, the log gets a mark that the action failed. Call it after everything that can be refused has
   * been refused. Throws KeyEndedError if the actor's key has ended, as it may while a change waits for its turn.
   */
  carryOut(options: {
    readonly by: Actor;
    readonly action: Action;
    /** Called with the sequence of the event in the log. */
    readonly work: (sequence: number) => Promise<ActionResult>;
  }): Promise<ActionResult>;
}
