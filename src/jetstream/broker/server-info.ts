/** The first line that a nats-server sends on every connection: `INFO {…}` (docs.nats.io, NATS protocol). */
import { createConnection, createServer } from "node:net";

interface ServerInfo {
  readonly name: string | undefined;
  readonly version: string;
  readonly hasJetStream: boolean;
}

/** A live server sends its line at once. */
const ANSWER_MS_MAX = 1000;
const INFO_LINE = /^INFO (\{.*\})\s*\r\n/;

const LOOPBACK = "127.0.0.1";

/** The info of the server on this port, on this machine unless a host is named; undefined if none answers. */
export const readServerInfo = (port: number, host = LOOPBACK): Promise<ServerInfo | undefined> =>
  new Promise((resolve) => {
    let text = "";
    const socket = createConnection({ host, port });
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
    probe.listen({ host: LOOPBACK, port }, () => probe.close(() => resolve(true)));
  });

const parseInfoLine = (text: string): ServerInfo | undefined => {
  const info = parsed(INFO_LINE.exec(text)?.[1] ?? "");
  if (typeof info !== "object" || info === null || !("version" in info)) return undefined;
  const name = "server_name" in info ? String(info.server_name) : undefined;
  return {
    name,
    version: String(info.version),
    hasJetStream: "jetstream" in info && info.jetstream === true,
  };
};

/** Undefined if it is not JSON: another program may listen there. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
