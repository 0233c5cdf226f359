import { connect, type Socket } from "node:net";
import { until } from "./until.ts";

/** A connection on which a test writes requests byte by byte, and reads the answers as they are on the wire. */
export interface RawConnection {
  readonly socket: Socket;
  send(more: string): void;
  soFar(): string;
  /** The whole answer, once the connection has ended. */
  answer(): Promise<string>;
}

export const openRaw = (url: string, text = ""): RawConnection => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.setEncoding("utf8").on("data", (some) => {
    answer += some;
  });
  // The other side may break the connection off: tests look for that.
  socket.on("error", () => {});
  if (text !== "") socket.write(text);
  return {
    socket,
    send: (more) => void socket.write(more),
    soFar: () => answer,
    answer: async () => {
      await until("the connection has ended", () => socket.destroyed);
      return answer;
    },
  };
};

/** The first lines of a POST, up to its body. */
export const rawPost = (path: string, headers: Readonly<Record<string, string>>): string =>
  `POST ${path} HTTP/1.1\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
