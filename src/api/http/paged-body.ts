/**
 * A body built in pages, each once the client has taken the one before, so a slow reader costs the memory of one page. If
 * a page fails the connection is aborted, so that nobody mistakes a part for the whole.
 */
import { setImmediate as otherWork } from "node:timers/promises";

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
  /** Lets other requests run after each page, because SQLite answers synchronously. */
  const nextPage = async (): Promise<Page | undefined> => {
    for (;;) {
      const page = await pages.next();
      await otherWork();
      if (page?.length !== 0 || hasEnded) return page;
    }
  };
  const make = async (): Promise<Page | undefined> => {
    pages.keepOpen(true);
    try {
      return await nextPage();
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
