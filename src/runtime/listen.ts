/** The one thing that Bun and Deno do differently: listening. This folder alone may name a runtime. */
import { listenOnBun } from "./bun.ts";
import { listenOnDeno } from "./deno.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly handle: (request: Request, socketAddress: string) => Promise<Response>;
  /** Above the limits that handlers enforce with a proper answer: this one closes without a word. */
  readonly bodyBytesMax: number;
  readonly idleMsMax: number;
}

export interface Listener {
  readonly port: number;
  /** Takes no new connections, lets running requests finish for at most `waitMs`, then closes what is left. */
  stop(waitMs: number): Promise<void>;
}

/** Another process has the port. */
export class PortInUseError extends Error {
  override readonly name = "PortInUseError";
}

export const runtimeName = "Bun" in globalThis ? "Bun" : "Deno";

/** Throws PortInUseError. */
export const listen = (options: ListenOptions): Listener => {
  try {
    return runtimeName === "Bun" ? listenOnBun(options) : listenOnDeno(options);
  } catch (error) {
    const isInUse =
      error instanceof Error &&
      (error.name === "AddrInUse" || ("code" in error && error.code === "EADDRINUSE"));
    if (isInUse)
      throw new PortInUseError(`Port ${options.port} on ${options.host} is in use by another program.`);
    throw error;
  }
};
