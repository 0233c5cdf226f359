/**
 * A body built in pages, each once the client has taken the one before, so a slow reader costs the memory of one page. If
 * a page fails the connection is aborted, so that nobody mistakes a part for the whole.
 */
import { setImmediate as otherWork } from "node:timers/promises";
import { createMemoryQuota, type QuotaBounds } from "../../access/memory-quota.ts";
import { ANSWER_PIECE_BYTES } from "../../limits.ts";

type Page = string | Uint8Array<ArrayBuffer>;

export interface Pages {
  /** The next text or bytes; empty if there is nothing yet, undefined at the end. */
  next(): Promise<Page | undefined>;
  closed(): void;
  failed(error: unknown): void;
  /** Switches the connection's idle limit off while a page is built: the silence is not the client's. */
  keepOpen(isKept: boolean): void;
}

export const pagedBody = (pages: Pages): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const encoder = new TextEncoder();
  let hasEnded = false;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    pages.closed();
  };
  const make = async (): Promise<Page | undefined> => {
    pages.keepOpen(true);
    try {
      for (;;) {
        const page = await pages.next();
        // Lets other requests run after each page, because SQLite answers synchronously.
        await otherWork();
        if (page?.length !== 0 || hasEnded) return page;
      }
    } finally {
      pages.keepOpen(false);
    }
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        try {
          const page = await make();
          if (hasEnded) return;
          if (page !== undefined)
            return controller.enqueue(typeof page === "string" ? encoder.encode(page) : page);
          end();
          controller.close();
        } catch (error) {
          if (hasEnded) return;
          pages.failed(error);
          end();
          // Without a reason: Bun would print it with source code, and `failed` has reported it.
          controller.error();
        }
      },
      cancel: end,
    },
    // No page is built before it is requested.
    { highWaterMark: 0 },
  );
};

export interface ResponseBackpressure {
  /** Undefined if it does not fit. */
  body(
    reader: { readonly holder: string; readonly hasKey: boolean } & Pick<Pages, "keepOpen">,
    text: string,
  ): ReadableStream<Uint8Array<ArrayBuffer>> | undefined;
}

/**
 * Long answers that their readers have not taken yet, bounded in bytes: a client that requests much and reads nothing must not fill the
 * memory. They are sent in pieces, because only then is it known when the reader has them.
 */
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
