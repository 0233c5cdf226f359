/** The first line that a nats-server sends on every connection: `INFO {…}` (docs.nats.io, NATS protocol). */
import { createConnection, createServer } from "node:net";

interface ServerInfo {
  readonly name: string | undefined;
  readonly version: string;
  readonly hasJetStream: boolean;
}

const ANSWER_MS_MAX = 1000;
const INFO_LINE = /^INFO (\{.*\})\s*\r\n/;

/** The info of the server on this port; undefined if none answers. */
export const readServerInfo = (port: number, host = "127.0.0.1"): Promise<ServerInfo | undefined> =>
  new Promise((resolve) => {
    let text = "";
    const socket = createConnection({ host, port });
    const finish = (info?: ServerInfo): void => {
      socket.destroy();
      resolve(info);
    };
    socket.setTimeout(ANSWER_MS_MAX, finish);
    socket.setEncoding("utf8");
    socket.on("error", () => finish());
    socket.on("close", () => finish());
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\r\n")) finish(parseInfoLine(text));
    });
  });

/** Undefined if another program listens there. */
const parseInfoLine = (text: string): ServerInfo | undefined => {
  try {
    const { version, server_name: name, jetstream } = JSON.parse(INFO_LINE.exec(text)?.[1] ?? "{}");
    if (typeof version !== "string") return undefined;
    return { name: typeof name === "string" ? name : undefined, version, hasJetStream: jetstream === true };
  } catch {
    return undefined;
  }
};

export const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host: "127.0.0.1", port }, () => probe.close(() => resolve(true)));
  });
