import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import {
  createSigningKey,
  createVerifier,
  formatVerifierKey,
  isKeyName,
  NOTE_SIGNATURES_MAX,
  openNote,
  parseVerifierKey,
  type Signer,
  signNote,
  type Verifier,
} from "./signed-note.ts";

const TEXT =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const PETER_SIGNER = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
const PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const PETER_LINE =
  "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
const ENOCH = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop";
const ENOCH_LINE =
  "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n";
const SIGNED = `${TEXT}\n${PETER_LINE}`;
const BOTH = `${SIGNED}${ENOCH_LINE}`;

const verifier = (key: string): Verifier => {
  const parsed = parseVerifierKey(key);
  if (parsed === undefined) throw new Error(`${key} is not a key`);
  return parsed;
};
/** The seed in Go's PRIVATE+KEY+PeterNeumann+c74f20a3. */
const PETER_SEED = decodeBase64("gQoUAtUUbI2E8kQzMPVAgOv5juF9nHT2JS/F1ccoMXM=") ?? new Uint8Array();
const peterSigner = createSigningKey(PETER_SEED).signerNamed("PeterNeumann");
const peter = verifier(PETER);
const enoch = verifier(ENOCH);
const failed = <Reason extends string>(reason: Reason) => ({ kind: "failed" as const, reason });
const opened = (...verifiers: readonly Verifier[]) => ({ kind: "opened" as const, text: TEXT, verifiers });

test("Go's examples of sumdb/note: keys and notes are written and read as by Go, byte for byte", () => {
  expect(signNote(TEXT, [peterSigner])).toBe(SIGNED);
  expect([formatVerifierKey(peterSigner), formatVerifierKey(peter), peter.keyId]).toEqual([
    PETER,
    PETER,
    0xc74f20a3,
  ]);
  expect(openNote(SIGNED, [peter, enoch])).toEqual(opened(peter));
  expect(openNote(BOTH, [peter, enoch])).toEqual(opened(peter, enoch));
  expect(openNote(BOTH, [enoch])).toEqual(opened(enoch));
});

test("the note of the C2SP specification opens", () => {
  const key = verifier("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k");
  const text = "This is an example message.\n";
  const line =
    "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=";
  expect(openNote(`${text}\n${line}\n`, [key])).toMatchObject({ kind: "opened", text });
});

describe("opening a note", () => {
  const stranger = createSigningKey(new Uint8Array(32).fill(9));

  test("fails without a known signature, even under a known name or a known id", () => {
    const sameName = signNote(TEXT, [stranger.signerNamed("PeterNeumann")]);
    const sameId = signNote(TEXT, [{ ...stranger.signerNamed("other"), keyId: peter.keyId }]);
    for (const [note, verifiers] of [
      [SIGNED, []],
      [SIGNED, [enoch]],
      [sameName, [peter]],
      [sameId, [peter]],
    ] as const)
      expect(openNote(note, verifiers)).toEqual(failed("unknown_key"));
  });

  test("fails if a known key has a wrong signature, however many right ones there are", () => {
    const forged = signNote(TEXT, [{ ...stranger.signerNamed("EnochRoot"), keyId: enoch.keyId }]);
    const forgedLine = forged.slice(TEXT.length + 1);
    for (const note of [`${SIGNED}${forgedLine}`, `${TEXT}\n${forgedLine}${PETER_LINE}`, BOTH + forgedLine]) {
      expect(openNote(note, [peter, enoch])).toEqual(failed("bad_signature"));
      expect(openNote(note, [peter])).toEqual(opened(peter));
    }
    for (const length of [63, 65]) {
      const other = { ...peter, sign: () => new Uint8Array(length) };
      expect(openNote(signNote(TEXT, [other]), [peter])).toEqual(failed("bad_signature"));
    }
  });

  test("ignores signatures of other kinds, counts a repeated one once, and takes so many signatures and no more", () => {
    const others: Signer[] = [1, 63, 76, 2420].map((length, at) => ({
      ...stranger.signerNamed(`witness.example/${at}`),
      sign: () => new Uint8Array(length).fill(at),
    }));
    expect(openNote(signNote(TEXT, [...others, peterSigner]), [peter])).toEqual(opened(peter));
    const note = (lines: number): string => SIGNED + PETER_LINE.repeat(lines);
    expect(openNote(note(NOTE_SIGNATURES_MAX - 1), [peter])).toEqual(opened(peter));
    expect(openNote(note(NOTE_SIGNATURES_MAX), [peter])).toEqual(failed("malformed"));
  });

  test("gives every text that can be signed, also one with empty lines: the last empty line is the separator", () => {
    const text = fc.string({ unit: "grapheme" }).map((text) => `${text.replace(/\p{Cc}/gu, "")}\n`);
    const lines = fc.constant("\n\nfirst\n\n— not a signature\n\n");
    fc.assert(
      fc.property(fc.oneof(text, lines), (text) => {
        const note = signNote(text, [peterSigner]);
        expect(openNote(note, [peter])).toEqual({ kind: "opened", text, verifiers: [peter] });
      }),
    );
    for (const text of ["", "no newline", "tab\t\n", "\r\n", "\ud800\n"])
      expect(() => signNote(text, [peterSigner])).toThrow(RangeError);
    expect(() => signNote(TEXT, [])).toThrow(RangeError);
  });
});

describe("text that is not a note", () => {
  const base64 = PETER_LINE.split(" ")[2]?.trim() ?? "";
  const { sign, ...key } = peterSigner;
  const ofNothing = signNote(TEXT, [{ ...key, sign: () => sign(new Uint8Array()) }]).slice(TEXT.length + 1);

  test.each([
    ["nothing", ""],
    ["only a newline", "\n"],
    ["only newlines", "\n\n"],
    ["only text", TEXT],
    ["no signature", `${TEXT}\n`],
    ["no empty line", `${TEXT}${PETER_LINE}`],
    ["no newline at the end", SIGNED.slice(0, -1)],
    ["signatures without a text, even valid ones", `\n${ofNothing}`],
    ["a carriage return", SIGNED.replaceAll("\n", "\r\n")],
    ["a control character in the text", SIGNED.replace("think", "thi\u0000nk")],
    ["a tab in the text", SIGNED.replace("think", "thi\tnk")],
    ["a control character in a name", SIGNED.replace("PeterN", "Peter\u001fN")],
    ["half a surrogate pair", SIGNED.replace("think", "\ud800")],
    ["a hyphen for the dash", SIGNED.replace("— ", "- ")],
    ["no space after the dash", SIGNED.replace("— ", "—")],
    ["two spaces", SIGNED.replace("— ", "—  ")],
    ["two spaces before the signature", SIGNED.replace(" x08", "  x08")],
    ["an extra word", SIGNED.replace("AM=\n", "AM= more\n")],
    ["a space at the end", SIGNED.replace("AM=\n", "AM= \n")],
    ["no name", SIGNED.replace("PeterNeumann ", "")],
    ["a plus in a name", SIGNED.replace("PeterNeumann", "Peter+Neumann")],
    ["a Unicode space in a name", SIGNED.replace("PeterNeumann", "Peter\u00a0Neumann")],
    ["no signature after the name", SIGNED.replace(` ${base64}`, "")],
    ["not base64", SIGNED.replace("x08g", "x08*")],
    ["no padding", SIGNED.replace("AM=\n", "AM\n")],
    ["bits left over", SIGNED.replace("AM=\n", "AN=\n")],
    ["a key id without a signature", SIGNED.replace(base64, "x08gow==")],
    ["an unknown signature that is malformed", `${SIGNED}— other ====\n`],
    ["another text below", `${SIGNED}more\n`],
  ])("%s", (_, note) => {
    expect(openNote(note, [peter])).toEqual(failed("malformed"));
  });

  test("no character of a note can be changed, and no text throws", () => {
    const changed = fc
      .tuple(fc.nat({ max: SIGNED.length - 1 }), fc.nat({ max: 0xffff }))
      .map(([at, code]) => `${SIGNED.slice(0, at)}${String.fromCharCode(code)}${SIGNED.slice(at + 1)}`);
    const parts = fc.constantFrom("\n", "— ", "PeterNeumann", " ", base64, "text", "+", "=", "\ud800");
    const pieces = fc.array(parts).map((all) => all.join(""));
    fc.assert(
      fc.property(fc.oneof(changed, pieces, fc.string({ unit: "binary" })), (note) => {
        if (note !== SIGNED) expect(openNote(note, [peter]).kind).toBe("failed");
      }),
      { numRuns: 8000 },
    );
  });
});

describe("keys", () => {
  test.each([
    [true, ["example.com/log42", "ä", "日本", "a:b", "—"]],
    [
      false,
      ["", " ", "a b", "a+b", "a\nb", "a\u0085b", "a\u00a0b", "a\u2028b", "a\u3000b", "\u0001", "\ud800"],
    ],
  ])("that a name can be one of a key is %p of %j", (isName, names) => {
    expect(names.filter((name) => isKeyName(name) !== isName)).toEqual([]);
  });

  test.each([
    "",
    "PeterNeumann",
    "PeterNeumann+c74f20a3",
    "PeterNeumann+c74f20a3+",
    PETER.replace("c74f20a3", "c74f20a4"),
    PETER.replace("c74f20a3", "C74F20A3"),
    PETER.replace("c74f20a3", "74f20a3"),
    PETER.replace("Peter", "peter"),
    PETER.replace("PeterNeumann", "Peter Neumann"),
    PETER.replace("+ARpc", "+AhpC"),
    PETER.slice(0, -4),
    `${PETER}AAAA`,
    `${PETER}\n`,
    PETER_SIGNER,
  ])("%p is not a verifier's key", (text) => {
    expect(parseVerifierKey(text)).toBeUndefined();
  });

  test("one seed signs under many names with an id for each, and its public key is read back", () => {
    const name = fc.stringMatching(/^[a-z0-9./-]{1,30}$/);
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(bytes, name, name, (seed, name, other) => {
        const key = createSigningKey(seed);
        const [one, two] = [key.signerNamed(name), key.signerNamed(other)];
        expect(one.keyId === two.keyId).toBe(name === other);
        const parsed = verifier(formatVerifierKey(one));
        expect(parsed).toMatchObject({ name, keyId: one.keyId, publicKey: key.publicKey });
        expect(openNote(signNote("text\n", [one]), [parsed])).toMatchObject({ kind: "opened" });
        const wrong = openNote(signNote("text\n", [two]), [parsed]);
        expect(wrong.kind).toBe(name === other ? "opened" : "failed");
      }),
      { numRuns: 50 },
    );
  });

  test("a public key that is not a point of the curve opens nothing and does not throw", () => {
    for (let byte = 0; byte < 256; byte++) {
      const publicKey = new Uint8Array(32).fill(byte);
      const key = createVerifier({ name: "n", publicKey });
      const text = `n+00000000+${encodeBase64(Uint8Array.of(1, ...publicKey))}`;
      expect(parseVerifierKey(text)).toBeUndefined();
      const note = signNote(TEXT, [{ ...key, sign: () => new Uint8Array(64).fill(1) }]);
      expect(openNote(note, [key])).toEqual(failed("bad_signature"));
    }
    expect(() => createVerifier({ name: "n", publicKey: new Uint8Array(31) })).toThrow(RangeError);
    expect(() => createSigningKey(new Uint8Array(33))).toThrow(RangeError);
    expect(() => createSigningKey(new Uint8Array(32)).signerNamed("a b")).toThrow(RangeError);
  });
});
