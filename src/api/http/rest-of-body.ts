/** The rest of a body whose request was refused before all of it was read. */

/** Whether the client wants its connection closed after the answer (RFC 9112 §9.6). */
export const closesAfterAnswer = ({ headers }: Request): boolean =>
  CLOSE.test(headers.get("connection") ?? "");

const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

interface Bounds {
  /** Of one body. */
  readonly bytesMax: number;
  readonly msMax: number;
  /** Bodies at the same time. */
  readonly atOnceMax: number;
}

/**
 * Reads the rest and throws it away, so that a client that sends everything before it reads gets the answer instead of a broken pipe (RFC
 * 9112 §9.6). To be called before the answer is given, because Bun closes the connection with it, whatever still arrives. Bun reads the rest
 * itself where the connection stays open (both measured on 1.4.5). Past a bound the answer is given at once.
 */
export const createRestDiscarder = ({
  bytesMax,
  msMax,
  atOnceMax,
}: Bounds): ((request: Request) => Promise<void>) => {
  let running = 0;
  const readFrom = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    const reader = body.getReader();
    const giveUp = (): void => void reader.cancel().catch(() => {});
    const timer = setTimeout(giveUp, msMax);
    try {
      for (let bytesLeft = bytesMax; bytesLeft >= 0; ) {
        const piece = (await reader.read()).value;
        if (piece === undefined) break;
        bytesLeft -= piece.byteLength;
      }
    } catch {
      // The client has gone.
    }
    clearTimeout(timer);
    giveUp();
  };
  return async (request) => {
    if (!closesAfterAnswer(request) || running >= atOnceMax) return;
    // However much is read of a longer one, its sender finds the connection closed.
    if (Number(request.headers.get("content-length") ?? 0) > bytesMax) return;
    const { body } = request;
    // Another reader has the body: all of it, or what came in time.
    if (body === null || body.locked) return;
    running++;
    await readFrom(body);
    running--;
  };
};
