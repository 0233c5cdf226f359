/**
 * Long answers that their readers have not taken yet, bounded in bytes: a client that requests much and reads nothing must not fill the
 * memory. They are sent in pieces, because only then is it known when the reader has them.
 */
import { createMemoryQuota, type QuotaBounds } from "../../access/memory-quota.ts";
import { ANSWER_PIECE_BYTES } from "../../limits.ts";
import { type Pages, pagedBody } from "./paged-body.ts";

export interface ResponseBackpressure {
  /** Undefined if it does not fit. */
  body(
    reader: { readonly holder: string; readonly hasKey: boolean } & Pick<Pages, "keepOpen">,
    text: string,
  ): ReadableStream<Uint8Array<ArrayBuffer>> | undefined;
}

export const createResponseBackpressure = (bounds: {
  readonly ofTenants: QuotaBounds;
  /** Separate, so that clients without a key never use a tenant's share. */
  readonly ofClients: QuotaBounds;
}): ResponseBackpressure => {
  const [ofTenants, ofClients] = [createMemoryQuota(bounds.ofTenants), createMemoryQuota(bounds.ofClients)];
  const encoder = new TextEncoder();
  return {
    body: ({ holder, hasKey, keepOpen }, text) => {
      const quota = hasKey ? ofTenants : ofClients;
      const bytes = encoder.encode(text);
      if (!quota.take(holder, bytes.byteLength)) return undefined;
      let taken = 0;
      const next = async (): Promise<Uint8Array<ArrayBuffer> | undefined> => {
        if (taken === bytes.byteLength) return undefined;
        const piece = bytes.subarray(taken, taken + ANSWER_PIECE_BYTES);
        taken += piece.byteLength;
        return piece;
      };
      const closed = (): void => void quota.take(holder, -bytes.byteLength);
      return pagedBody({ next, closed, failed: () => {}, keepOpen });
    },
  };
};
