/** Splits bytes into lines, and says where each line ends in the input. A line that is too long is reported without being held. */
const LINE_FEED = 0x0a;

export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** Offset in the input behind the line. */
  readonly end: number;
  /** The line without its line feed; undefined if it is longer than may be held. */
  readonly bytes: Uint8Array | undefined;
}

export interface LineSplitter {
  push(chunk: Uint8Array): readonly Line[];
  /** Returns what is behind the last line feed. */
  finish(): readonly Line[];
}

/** `start`: how many bytes and lines came before. */
export const createLineSplitter = (
  start: { readonly offset: number; readonly line: number },
  lineBytesMax: number,
): LineSplitter => {
  let offset = start.offset;
  let number = start.line;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  const hold = (bytes: Uint8Array): void => {
    offset += bytes.length;
    heldBytes += bytes.length;
    if (heldBytes <= lineBytesMax) held.push(bytes);
    else held = [];
  };
  const take = (): Line => {
    number++;
    const bytes = heldBytes <= lineBytesMax ? joined(held, heldBytes) : undefined;
    held = [];
    heldBytes = 0;
    return { number, end: offset, bytes };
  };
  return {
    push: (chunk) => {
      const lines: Line[] = [];
      for (let from = 0; ; ) {
        const to = chunk.indexOf(LINE_FEED, from);
        hold(chunk.subarray(from, to < 0 ? chunk.length : to));
        if (to < 0) return lines;
        offset++;
        lines.push(take());
        from = to + 1;
      }
    },
    finish: () => (heldBytes > 0 ? [take()] : []),
  };
};

/** A copy, because a stream may reuse its buffers. */
const joined = (parts: readonly Uint8Array[], length: number): Uint8Array => {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};
