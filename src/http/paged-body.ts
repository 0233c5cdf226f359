/**
 * A body made of pages, of which one is made when the client has taken the one before it: a slow reader costs the memory of one page.
 * Where a page fails, the connection is broken off, so that nobody takes a part for the whole.
 */
import { setImmediate as otherWork } from "node:timers/promises";

type Page = string | Uint8Array<ArrayBuffer>;

export interface Pages {
  /** The next text or bytes; empty where there was nothing yet, undefined at the end. */
  next(): Promise<Page | undefined>;
  /** Once, when nothing more is asked for: at the end, after a failure, or when the client has gone. */
  closed(): void;
  failed(error: unknown): void;
  /** While a page is made the client cannot be blamed for the silence; while it takes one it can. */
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
  /** Lets others have a turn after each page: SQLite answers without ever waiting. */
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
          // Without a reason: Bun would print it with the code around it, and it was told already.
          controller.error();
        }
      },
      cancel: end,
    },
    // Nothing is made before it is asked for.
    { highWaterMark: 0 },
  );
};
