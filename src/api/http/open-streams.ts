/** Answers that are still being written: limits per key and tenant, and the end of all of them when the service stops. */
import type { Principal } from "../../access/authenticate.ts";

export interface OpenStreams {
  /** Undefined if a limit (key, tenant or all) is reached, or the service stops. */
  open(asker: Pick<Principal, "keyId" | "tenant">): OpenStream | undefined;
  /** Ends all, and opens no more. */
  end(): void;
}

export interface OpenStream {
  /** Aborted when the service stops, and when the stream is closed. */
  readonly signal: AbortSignal;
  /** Call it when the stream has ended, for any reason. Idempotent. */
  close(): void;
}

export const createOpenStreams = ({
  perKeyMax,
  perTenantMax,
  allMax,
}: {
  readonly perKeyMax: number;
  readonly perTenantMax: number;
  readonly allMax: number;
}): OpenStreams => {
  const open = new Set<AbortController>();
  const [ofKeys, ofTenants] = [createCount(perKeyMax), createCount(perTenantMax)];
  let hasEnded = false;
  return {
    open: ({ keyId, tenant }) => {
      if (hasEnded || open.size >= allMax || ofKeys.isFull(keyId) || ofTenants.isFull(tenant))
        return undefined;
      const controller = new AbortController();
      open.add(controller);
      ofKeys.add(keyId, 1);
      ofTenants.add(tenant, 1);
      return {
        signal: controller.signal,
        close: () => {
          if (open.delete(controller)) {
            ofKeys.add(keyId, -1);
            ofTenants.add(tenant, -1);
          }
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

const createCount = (max: number) => {
  const counts = new Map<string, number>();
  return {
    isFull: (name: string): boolean => (counts.get(name) ?? 0) >= max,
    add: (name: string, change: 1 | -1): void => {
      const count = (counts.get(name) ?? 0) + change;
      if (count > 0) counts.set(name, count);
      else counts.delete(name);
    },
  };
};
