/**
 * Administrative actions, and the port through which they are written to the log before they are done. Who carries one out says what it is;
 * src/administration makes an event of it.
 */
import type { Static, TObject } from "@sinclair/typebox";
import type { Principal } from "./authenticate.ts";

/** What the event of such an action says, beside who, when and in which tenant. */
export interface ActionKind {
  /** One sentence for the documentation. */
  readonly summary: string;
  /** Never a secret, and of what customers sent only identifiers and the filters they asked with. */
  readonly details: TObject;
}

/** The actions of a table of kinds, by event type. */
export type ActionOf<Kinds extends Readonly<Record<string, ActionKind>>> = {
  readonly [Type in keyof Kinds & string]: {
    readonly type: Type;
    /** Whose key, policy, hold or events it is about. */
    readonly tenant: string;
    readonly details: Static<Kinds[Type]["details"]>;
  };
}[keyof Kinds & string];

export interface Actor {
  readonly principal: Principal;
  readonly requestId: string;
  /** Whether the key would still open this: it may end while a change waits for its turn. Left out: always. */
  readonly isStillAllowed?: () => boolean;
}

/** The key of the one who asked was revoked or expired before it had its turn: nothing was done. */
export interface ActorEnded {
  readonly kind: "key_ended";
}

/** For what waits for its turn. */
export const unlessEnded =
  <Result>({ isStillAllowed }: Actor, work: () => Promise<Result>) =>
  async (): Promise<Result | ActorEnded> =>
    (isStillAllowed?.() ?? true) ? work() : { kind: "key_ended" };

export type ActionResult =
  | { readonly kind: "written" }
  /** Somebody else wrote first; nothing was changed. */
  | { readonly kind: "conflict" }
  /** It may or may not have been done. */
  | { readonly kind: "unavailable"; readonly detail: string };

/** Others changed it each time that this was tried. Nothing was done; asking again is safe. */
export interface ChangedMeanwhile {
  readonly kind: "changed_meanwhile";
}

export const CHANGED_MEANWHILE: ChangedMeanwhile = { kind: "changed_meanwhile" };

export interface ActionRecorder<Action> {
  /**
   * Appends the event of the action, and calls `work` once it is stored. Where it cannot be stored nothing is done, and the answer is
   * `unavailable`. What `work` did not write is marked in the log as failed. To be called after all that can be refused has been.
   */
  carryOut(options: {
    readonly by: Actor;
    readonly action: Action;
    /** Told where in the log the event stands. */
    readonly work: (sequence: number) => Promise<ActionResult>;
  }): Promise<ActionResult>;
}
