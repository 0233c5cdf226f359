/**
 * The format of an entry in a file of the outbox: eight hexadecimal digits of its CRC-32, a space, the event's JSON, a line feed. The JSON that we
 * write contains no line feed. So a damaged entry affects no other, and a person can read the file.
 */
import { crc32 } from "./crc32.ts";

const HEAD_BYTES = 9;
export const FRAME_BYTES = HEAD_BYTES + 1;
const SPACE = 0x20;
const LINE_FEED = 0x0a;
const DIGITS = new TextEncoder().encode("0123456789abcdef");

/** Writes the frame of `entry` to the beginning of `into`, which must have room for it, and returns its length. */
export const writeFrame = (entry: Uint8Array, into: Uint8Array): number => {
  let sum = crc32(entry);
  for (let at = 7; at >= 0; at--) {
    into[at] = DIGITS[sum & 15] ?? 0;
    sum >>>= 4;
  }
  into[8] = SPACE;
  into.set(entry, HEAD_BYTES);
  into[HEAD_BYTES + entry.length] = LINE_FEED;
  return entry.length + FRAME_BYTES;
};

export interface Frame {
  /** Length of the whole frame, in bytes. */
  readonly length: number;
  /** Undefined if the bytes are not those that were written. */
  readonly entry: Uint8Array | undefined;
  readonly bytes: Uint8Array;
}

/** The frames in `bytes`, which start at a frame. A last frame without its line feed is left out; at the end of the file it counts as unreadable. */
export function* readFrames(bytes: Uint8Array, isEnd: boolean): Generator<Frame> {
  for (let from = 0; from < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, from);
    if (feed < 0 && !isEnd) return;
    const to = feed < 0 ? bytes.length : feed + 1;
    const frame = bytes.subarray(from, to);
    yield { length: to - from, entry: feed < 0 ? undefined : entryOf(frame), bytes: frame };
    from = to;
  }
}

const entryOf = (frame: Uint8Array): Uint8Array | undefined => {
  if (frame.length < FRAME_BYTES || frame[8] !== SPACE) return undefined;
  let sum = 0;
  for (let at = 0; at < 8; at++) {
    const digit = DIGITS.indexOf(frame[at] ?? 0);
    if (digit < 0) return undefined;
    sum = ((sum << 4) | digit) >>> 0;
  }
  const entry = frame.subarray(HEAD_BYTES, frame.length - 1);
  return crc32(entry) === sum ? entry : undefined;
};

/** The length of each frame, found by the line feeds; a rest without a line feed counts as one frame. */
export const frameLengths = (bytes: Uint8Array): readonly number[] => {
  const lengths: number[] = [];
  for (let from = 0; from < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, from);
    const to = feed < 0 ? bytes.length : feed + 1;
    lengths.push(to - from);
    from = to;
  }
  return lengths;
};
