/** An answer whose bytes are not read until the test asks, and then all of them, as they are on the wire. */
import { connect } from "node:net";
import { until } from "./until.ts";

export interface UntakenAnswer {
  /** The part that has arrived. */
  begun(): string;
  /** The whole answer, once the connection has ended or `isEnough` returns true. */
  text(isEnough?: (text: string) => boolean): Promise<string>;
  disconnect(): void;
}

/** The end of a complete body of unknown length (RFC 9112 §7.1). */
export const LAST_CHUNK = "\r\n0\r\n\r\n";

/** Resolves when the answer has begun. */
export const openUntaken = async (
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<UntakenAnswer> => {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.setEncoding("latin1").on("data", (some) => {
    text += some;
    socket.pause();
  });
  // The other side may break the connection off: tests look for that.
  socket.on("error", () => {});
  const lines = Object.entries({ host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  await until("the answer has begun", () => text !== "");
  return {
    begun: () => text,
    text: async (isEnough = () => false) => {
      socket.removeAllListeners("data").on("data", (some) => {
        text += some;
      });
      socket.resume();
      await until("the answer has ended", () => socket.destroyed || isEnough(text));
      socket.destroy();
      return text;
    },
    disconnect: () => void socket.destroy(),
  };
};
