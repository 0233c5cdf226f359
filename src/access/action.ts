/**
 * Administrative actions, and the port that writes them to the log before they are done. The caller says what the action is;
 * src/access/administration makes an event of it.
 */
import type { Static, TObject } from "@sinclair/typebox";
import type { Principal } from "./authenticate.ts";

/** What the event of such an action contains besides who, when and in which tenant. */
export interface ActionKind {
  /** One sentence for the documentation. */
  readonly summary: string;
  /** Never a secret. Of customers' data only identifiers, and the filters of their requests. */
  readonly details: TObject;
}

/** The actions of a table of kinds, by event type. */
export type ActionOf<Kinds extends Readonly<Record<string, ActionKind>>> = {
  readonly [Type in keyof Kinds & string]: {
    readonly type: Type;
    /** The tenant of the key, policy, hold or events. */
    readonly tenant: string;
    readonly details: Static<Kinds[Type]["details"]>;
  };
}[keyof Kinds & string];

export interface Actor {
  readonly principal: Principal;
  readonly requestId: string;
}

/** The key of the actor was revoked or expired since its request began: nothing was done. */
export class KeyEndedError extends Error {
  override readonly name = "KeyEndedError";
}

export type ActionResult =
  | { readonly kind: "written" }
  /** Somebody else wrote first; nothing was changed. */
  | { readonly kind: "conflict" }
  /** It may or may not have been done. */
  | { readonly kind: "unavailable"; readonly detail: string };

/** Somebody else changed it during each attempt. Nothing was done; asking again is safe. */
export interface ChangedMeanwhile {
  readonly kind: "changed_meanwhile";
}

export const CHANGED_MEANWHILE: ChangedMeanwhile = { kind: "changed_meanwhile" };

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
