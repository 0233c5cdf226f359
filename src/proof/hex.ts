/** Bytes as hexadecimal digits, in small letters. */
import { sha256 } from "./primitives.ts";

export const encodeHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const sha256Hex = (bytes: Uint8Array): string => encodeHex(sha256(bytes));
