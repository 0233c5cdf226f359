/**
 * Long answers whose readers have not taken them yet, bounded in bytes: who asks for much and reads nothing must not fill the memory. They are handed over
 * piece by piece, because only so it is known when a reader has them.
 */
import { createSharedPot, type PotBounds } from "../access/shared-pot.ts";
import { ANSWER_PIECE_BYTES } from "../limits.ts";
import { type Asker, holderOfRequest } from "./holder.ts";
import { type Pages, pagedBody } from "./paged-body.ts";

export interface UntakenAnswers {
  /** Undefined where it is more than can be held. */
  body(
    asker: Asker & Pick<Pages, "keepOpen">,
    text: string,
  ): ReadableStream<Uint8Array<ArrayBuffer>> | undefined;
}

export const createUntakenAnswers = (bounds: {
  readonly ofTenants: PotBounds;
  /** Apart, so that nobody without a key takes a tenant's place. */
  readonly ofClients: PotBounds;
}): UntakenAnswers => {
  const [ofTenants, ofClients] = [createSharedPot(bounds.ofTenants), createSharedPot(bounds.ofClients)];
  const encoder = new TextEncoder();
  return {
    body: (asker, text) => {
      const pot = asker.principal === undefined ? ofClients : ofTenants;
      const holder = holderOfRequest(asker);
      const bytes = encoder.encode(text);
      if (!pot.take(holder, bytes.byteLength)) return undefined;
      let taken = 0;
      const next = async (): Promise<Uint8Array<ArrayBuffer> | undefined> => {
        if (taken === bytes.byteLength) return undefined;
        const piece = bytes.subarray(taken, taken + ANSWER_PIECE_BYTES);
        taken += piece.byteLength;
        return piece;
      };
      const closed = (): void => void pot.take(holder, -bytes.byteLength);
      return pagedBody({ next, closed, failed: () => {}, keepOpen: asker.keepOpen });
    },
  };
};
