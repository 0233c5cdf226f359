/**
 * C2SP signed-note: a text with Ed25519 signatures (type 0x01, RFC 8032) below it, and keys as texts in the form of Go's
 * golang.org/x/mod/sumdb/note. Not here: what the text says, and where keys are kept.
 */
import { decodeBase64, encodeBase64, encodeHex } from "./base64.ts";
import { ed25519Check, ed25519Key, sha256 } from "./primitives.ts";

export const SEED_BYTES = 32;
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const KEY_ID_BYTES = 4;
const ED25519_TYPE = 0x01;
/** signed-note, Format: 16 must be accepted, a verifier may refuse more. Go's limit, so that both accept the same notes. */
export const NOTE_SIGNATURES_MAX = 100;

export interface Verifier {
  readonly name: string;
  /** 32 bits. A hint at which key signed; together with the name it identifies a key (signed-note, Signatures). */
  readonly keyId: number;
  readonly publicKey: Uint8Array;
  verify(message: Uint8Array, signature: Uint8Array): boolean;
}

export interface Signer extends Omit<Verifier, "verify"> {
  sign(message: Uint8Array): Uint8Array;
}

/** One Ed25519 key that signs under several names. The key id depends on the name, the signatures do not. */
export interface SigningKey {
  readonly publicKey: Uint8Array;
  signerNamed(name: string): Signer;
}

/**
 * A signature does not cover the name under which the key signs. If one key has several names, the text must say which is meant and its reader must
 * check it: tlog-checkpoint.ts does so, with the origin.
 */
export const createSigningKey = (seed: Uint8Array): SigningKey => {
  if (seed.length !== SEED_BYTES) throw new RangeError("a seed has 32 bytes");
  const { publicKey, sign } = ed25519Key(seed);
  return { publicKey, signerNamed: (name) => ({ name, keyId: keyIdOf(name, publicKey), publicKey, sign }) };
};

export const createVerifier = ({ name, publicKey }: Pick<Verifier, "name" | "publicKey">): Verifier => {
  if (publicKey.length !== PUBLIC_KEY_BYTES) throw new RangeError("a public key has 32 bytes");
  const check = ed25519Check(publicKey);
  return {
    name,
    keyId: keyIdOf(name, publicKey),
    publicKey,
    verify: (message, signature) => signature.length === SIGNATURE_BYTES && check(message, signature),
  };
};

/** The first four bytes of SHA-256(name, newline, type, public key), as a number (signed-note, Signatures). */
const keyIdOf = (name: string, publicKey: Uint8Array): number => {
  if (!isKeyName(name)) throw new RangeError(`${JSON.stringify(name)} cannot name a key`);
  const digest = sha256(Uint8Array.of(...utf8.encode(`${name}\n`), ...typed(publicKey)));
  return new DataView(digest.buffer, digest.byteOffset).getUint32(0);
};

/** Not empty, no Unicode space, no plus (signed-note, Format); and nothing that could not stand in a note. */
export const isKeyName = (name: string): boolean =>
  /^[^\p{White_Space}+]+$/u.test(name) && isNoteCharacters(name);

/** `<name>+<key id>+<base64>`: what a verifier is configured with. */
export const formatVerifierKey = ({ name, keyId, publicKey }: Omit<Verifier, "verify">): string =>
  `${name}+${formatKeyId(keyId)}+${encodeBase64(typed(publicKey))}`;

/** Undefined if it is not the key of an Ed25519 verifier, or if the key id does not match the name and key. */
export const parseVerifierKey = (text: string): Verifier | undefined => {
  // Base64 has a plus among its digits, so the text is cut at the first two only.
  const [, name = "", keyId = "", base64 = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const key = decodeBase64(base64);
  if (!isKeyName(name) || key?.length !== 1 + PUBLIC_KEY_BYTES || key[0] !== ED25519_TYPE) return undefined;
  try {
    const verifier = createVerifier({ name, publicKey: key.slice(1) });
    return formatKeyId(verifier.keyId) === keyId ? verifier : undefined;
  } catch {
    // Some runtimes check at once whether 32 bytes are a point of the curve.
    return undefined;
  }
};

/** The text with one signature line per signer, in their order. Throws when the text cannot stand in a note. */
export const signNote = (text: string, signers: readonly Signer[]): string => {
  if (!isNoteText(text))
    throw new RangeError("the text of a note ends with a newline and has no control characters");
  if (signers.length === 0 || signers.length > NOTE_SIGNATURES_MAX)
    throw new RangeError(`a note has 1 to ${NOTE_SIGNATURES_MAX} signatures`);
  const message = utf8.encode(text);
  return `${text}\n${signers.map((signer) => signatureLine(signer, message)).join("")}`;
};

const signatureLine = (signer: Signer, message: Uint8Array): string => {
  const keyId = new Uint8Array(KEY_ID_BYTES);
  new DataView(keyId.buffer).setUint32(0, signer.keyId);
  return `${DASH} ${signer.name} ${encodeBase64(Uint8Array.of(...keyId, ...signer.sign(message)))}\n`;
};

export type NoteFailure = "malformed" | "unknown_key" | "bad_signature";

export type OpenedNote =
  | { readonly kind: "opened"; readonly text: string; readonly verifiers: readonly Verifier[] }
  | { readonly kind: "failed"; readonly reason: NoteFailure };

/** The text of a note, if at least one of the verifiers signed it and none of their signatures is wrong. Never throws. */
export const openNote = (note: string, verifiers: readonly Verifier[]): OpenedNote => {
  const parsed = parseNote(note);
  if (parsed === undefined) return { kind: "failed", reason: "malformed" };
  const message = utf8.encode(parsed.text);
  const verified = new Set<Verifier>();
  for (const { name, keyId, signature } of parsed.signatures) {
    const verifier = verifiers.find((known) => known.name === name && known.keyId === keyId);
    // Signatures by other keys are ignored: they allow keys to change and witnesses to sign (signed-note, Signatures).
    if (verifier === undefined) continue;
    if (!verifier.verify(message, signature)) return { kind: "failed", reason: "bad_signature" };
    verified.add(verifier);
  }
  if (verified.size === 0) return { kind: "failed", reason: "unknown_key" };
  return { kind: "opened", text: parsed.text, verifiers: [...verified] };
};

/** Whether each signature is by one of the verifiers and none of them signed twice. Then no line can be added to the note. */
export const isSignedByNobodyElse = (note: string, verifiers: readonly Verifier[]): boolean => {
  const opened = openNote(note, verifiers);
  return opened.kind === "opened" && parseNote(note)?.signatures.length === opened.verifiers.length;
};

/** With a space it begins a signature line. */
const DASH = "\u2014";

interface NoteSignature {
  readonly name: string;
  readonly keyId: number;
  readonly signature: Uint8Array;
}

const parseNote = (
  note: string,
): { readonly text: string; readonly signatures: readonly NoteSignature[] } | undefined => {
  // The last empty line: the text may contain empty lines itself.
  const end = note.lastIndexOf("\n\n");
  if (end < 0 || !isNoteText(note)) return undefined;
  const lines = note.slice(end + 2, -1).split("\n");
  const signatures = lines.flatMap((line) => parseSignatureLine(line) ?? []);
  return lines.length > NOTE_SIGNATURES_MAX || signatures.length < lines.length
    ? undefined
    : { text: note.slice(0, end + 1), signatures };
};

const parseSignatureLine = (line: string): NoteSignature | undefined => {
  const [dash, name = "", base64 = "", ...more] = line.split(" ");
  const bytes = decodeBase64(base64);
  if (dash !== DASH || more.length > 0 || !isKeyName(name) || !bytes || bytes.length <= KEY_ID_BYTES)
    return undefined;
  const keyId = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  return { name, keyId, signature: bytes.slice(KEY_ID_BYTES) };
};

const isNoteText = (text: string): boolean => text.endsWith("\n") && isNoteCharacters(text);

/** signed-note, Format: valid UTF-8, and no characters below U+0020 but newlines. */
const isNoteCharacters = (text: string): boolean => text.isWellFormed() && !/[^\n -\u{10ffff}]/u.test(text);

const utf8 = new TextEncoder();

const formatKeyId = (keyId: number): string => keyId.toString(16).padStart(2 * KEY_ID_BYTES, "0");

const typed = (key: Uint8Array): Uint8Array => Uint8Array.of(ED25519_TYPE, ...key);

/** One text for each set of keys and head: first the keys that signed the head, in the order of their signatures, then the others by fingerprint. */
export const keyLines = (
  publicKeys: readonly Uint8Array[],
  origin: string,
  head: string | undefined,
): string => {
  const verifiers = publicKeys
    .toSorted((one, other) => (fingerprintOf(one) < fingerprintOf(other) ? -1 : 1))
    .map((publicKey) => createVerifier({ name: origin, publicKey }));
  const opened = head === undefined ? undefined : openNote(head, verifiers);
  const signing = opened?.kind === "opened" ? opened.verifiers : [];
  return [...new Set([...signing, ...verifiers])]
    .map((verifier) => `${formatVerifierKey(verifier)}\n`)
    .join("");
};

/** SHA-256 of a public key in hex, shortened: a name for people and subjects. */
export const fingerprintOf = (publicKey: Uint8Array): string => encodeHex(sha256(publicKey)).slice(0, 16);
