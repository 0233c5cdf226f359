/** The first line that a nats-server sends on every connection: `INFO {…}` (docs.nats.io, NATS protocol). */
import { createConnection, createServer } from "node:net";

interface ServerInfo {
  readonly version: string;
  readonly hasJetStream: boolean;
}

/** A live server on loopback sends its line at once. */
const ANSWER_MS_MAX = 1000;
const INFO_LINE = /^INFO (\{.*\})\s*\r\n/;

/** The info of the server on this loopback port; undefined if none answers. */
export const readServerInfo = (port: number): Promise<ServerInfo | undefined> =>
  new Promise((resolve) => {
    let text = "";
    const socket = createConnection({ host: "127.0.0.1", port });
    const finish = (info: ServerInfo | undefined): void => {
      socket.destroy();
      resolve(info);
    };
    socket.setTimeout(ANSWER_MS_MAX, () => finish(undefined));
    socket.setEncoding("utf8");
    socket.on("error", () => finish(undefined));
    socket.on("close", () => finish(undefined));
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\r\n")) finish(parseInfoLine(text));
    });
  });

/** Whether nothing listens on this loopback port. */
export const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host: "127.0.0.1", port }, () => probe.close(() => resolve(true)));
  });

const parseInfoLine = (text: string): ServerInfo | undefined => {
  const info = parsed(INFO_LINE.exec(text)?.[1] ?? "");
  if (typeof info !== "object" || info === null || !("version" in info)) return undefined;
  return { version: String(info.version), hasJetStream: "jetstream" in info && info.jetstream === true };
};

/** Undefined if it is not JSON: another program may listen there. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
