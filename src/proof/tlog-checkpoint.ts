/** C2SP tlog-checkpoint: which log, how many leaves, which root; as the text of a signed note. */
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { type Hash, isHash } from "./rfc6962.ts";
import { type NoteFailure, openNote, type Verifier } from "./signed-note.ts";

export interface Checkpoint {
  /** Names the log: like a URL without its scheme, without spaces and plus signs. */
  readonly origin: string;
  readonly size: number;
  readonly root: Hash;
  /** Lines after the root, signed with the rest. The specification advises against them; they are kept without a meaning. */
  readonly extensions?: readonly string[];
}

/** Throws when a member cannot stand in a checkpoint. */
export const formatCheckpoint = ({ origin, size, root, extensions = [] }: Checkpoint): string => {
  if (!isHash(root)) throw new RangeError("a root has 32 bytes");
  for (const line of [origin, ...extensions])
    if (line === "" || line.includes("\n")) throw new RangeError("origin and extensions are lines of text");
  return `${[origin, formatDecimal(size), encodeBase64(root), ...extensions].join("\n")}\n`;
};

/** Undefined if the text is not a checkpoint (tlog-checkpoint, Note text). */
export const parseCheckpoint = (text: string): Checkpoint | undefined => {
  const lines = text.split("\n");
  if (lines.pop() !== "" || lines.includes("")) return undefined;
  const [origin, sizeText = "", rootText = "", ...extensions] = lines;
  const [size, root] = [parseDecimal(sizeText), decodeBase64(rootText)];
  if (origin === undefined || size === undefined || !isHash(root)) return undefined;
  return { origin, size, root, ...(extensions.length > 0 && { extensions }) };
};

/** What a signed note says, without a check of who signed it. */
export const checkpointIn = (note: string): Checkpoint | undefined =>
  parseCheckpoint(note.slice(0, note.lastIndexOf("\n\n") + 1));

export type CheckpointFailure = NoteFailure | "wrong_origin";

export type OpenedCheckpoint =
  | { readonly kind: "opened"; readonly checkpoint: Checkpoint; readonly verifiers: readonly Verifier[] }
  | { readonly kind: "failed"; readonly reason: CheckpointFailure };

/**
 * The checkpoint in a signed note, if it belongs to the log `origin`. The origin is required because one key may sign for many logs: the signature of
 * one log's checkpoint, under another log's name, is a valid signature (signed-note.ts, createSigningKey).
 */
export const openCheckpoint = (
  note: string,
  { origin, verifiers }: { readonly origin: string; readonly verifiers: readonly Verifier[] },
): OpenedCheckpoint => {
  const opened = openNote(note, verifiers);
  if (opened.kind === "failed") return opened;
  const checkpoint = parseCheckpoint(opened.text);
  if (checkpoint === undefined) return { kind: "failed", reason: "malformed" };
  if (checkpoint.origin !== origin) return { kind: "failed", reason: "wrong_origin" };
  return { kind: "opened", checkpoint, verifiers: opened.verifiers };
};

/** ASCII digits without leading zeros. Undefined for other text, and above 2^53 - 1, which a number cannot hold exactly. */
export const parseDecimal = (text: string): number | undefined => {
  const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
};

export const formatDecimal = (value: number): string => {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a count`);
  return String(value);
};
