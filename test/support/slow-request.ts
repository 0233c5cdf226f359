/** A request that stops after its first byte, until the test continues it. */
import { once } from "node:events";
import { connect } from "node:net";

/** Sends the head and the first byte of the body; the returned function sends the rest, and returns the answer. */
export const beginRequest = async (
  serviceUrl: string,
  request: {
    readonly method: string;
    readonly path: string;
    readonly key: string;
    readonly body: string;
  },
) => {
  const { method, path, key, body } = request;
  const { port, hostname } = new URL(serviceUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  let text = "";
  socket.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  const ended = once(socket, "close");
  const bytes = Buffer.from(body);
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${bytes.byteLength}\r\n\r\n`;
  socket.write(Buffer.concat([Buffer.from(head), bytes.subarray(0, 1)]));
  return async () => {
    socket.write(bytes.subarray(1));
    await ended;
    const [answerHead = "", answerBody = ""] = text.split("\r\n\r\n");
    return {
      status: Number(answerHead.split(" ")[1]),
      challenge: /^www-authenticate: (.*)$/im.exec(answerHead)?.[1],
      json: JSON.parse(answerBody),
    };
  };
};
