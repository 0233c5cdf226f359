/** Which answers are still being written: how many a key may have at once, and the end of them all when the service stops. */

export interface OpenStreams {
  /** Undefined where the key, or all keys together, have as many as may be, or the service stops. */
  open(keyId: string): OpenStream | undefined;
  /** Ends all, and opens no more. */
  end(): void;
}

export interface OpenStream {
  /** Aborted when the service stops, and when the stream is closed. */
  readonly signal: AbortSignal;
  /** To be called once it has ended, however it did. May be called again. */
  close(): void;
}

export const createOpenStreams = ({
  perKeyMax,
  allMax,
}: {
  readonly perKeyMax: number;
  readonly allMax: number;
}): OpenStreams => {
  const open = new Set<AbortController>();
  const perKey = new Map<string, number>();
  let hasEnded = false;

  const count = (keyId: string, change: 1 | -1): void => {
    const now = (perKey.get(keyId) ?? 0) + change;
    if (now > 0) perKey.set(keyId, now);
    else perKey.delete(keyId);
  };

  return {
    open: (keyId) => {
      if (hasEnded || open.size >= allMax || (perKey.get(keyId) ?? 0) >= perKeyMax) return undefined;
      const controller = new AbortController();
      open.add(controller);
      count(keyId, 1);
      return {
        signal: controller.signal,
        close: () => {
          if (open.delete(controller)) count(keyId, -1);
          controller.abort();
        },
      };
    },
    end: () => {
      hasEnded = true;
      for (const controller of open) controller.abort();
    },
  };
};
