/** Listening is the one thing that Bun and Deno do differently. Only this folder may name a runtime. */
import { isIP } from "node:net";
import { listenOnBun } from "./bun.ts";
import { listenOnDeno } from "./deno.ts";
import type { Listener, ListenOptions } from "./listener.ts";

/** The address cannot be used for listening. The message is for the operator. */
export class ListenRefusedError extends Error {
  override readonly name = "ListenRefusedError";
}

export const runtimeName = "Bun" in globalThis ? "Bun" : "Deno";

/** Throws ListenRefusedError. */
export const listen = (options: ListenOptions): Listener => {
  try {
    return runtimeName === "Bun" ? listenOnBun(options) : listenOnDeno(options);
  } catch (error) {
    const isInUse =
      error instanceof Error &&
      (error.name === "AddrInUse" || ("code" in error && error.code === "EADDRINUSE"));
    if (isInUse)
      throw new ListenRefusedError(
        `Port ${options.port} on ${options.host} is in use by another program. End that, or set PORT to a free one.`,
      );
    throw new ListenRefusedError(
      `Nothing can listen on port ${options.port} of HOST ${options.host}: ${reasonOf(error, options.host)}. Set HOST to an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them, and PORT to one that this user may take.`,
    );
  }
};

/** For a host name that does not resolve, Bun 1.4.5 reports whatever error came before: EINVAL, or ENOTTY on a terminal (measured). */
const reasonOf = (error: unknown, host: string): string => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (isIP(host) === 0 && code !== "EACCES" && code !== "EADDRNOTAVAIL")
    return "this machine knows no address of that name";
  return error instanceof Error ? error.message : String(error);
};
