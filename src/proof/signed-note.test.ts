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

describe("the examples of Go's sumdb/note and of C2SP signed-note", () => {
  test("a note signed with Go's key is Go's note, byte for byte", () => {
    expect(signNote(TEXT, [peterSigner])).toBe(SIGNED);
  });

  test("Go's notes open with one known signature, with two, and with an unknown one in between", () => {
    expect(openNote(SIGNED, [peter])).toEqual({ kind: "opened", text: TEXT, verifiers: [peter] });
    const both = `${SIGNED}${ENOCH_LINE}`;
    expect(openNote(both, [peter, enoch])).toEqual({
      kind: "opened",
      text: TEXT,
      verifiers: [peter, enoch],
    });
    expect(openNote(SIGNED, [peter, enoch])).toEqual({ kind: "opened", text: TEXT, verifiers: [peter] });
    expect(openNote(both, [enoch])).toEqual({ kind: "opened", text: TEXT, verifiers: [enoch] });
  });

  test("the specification's note opens", () => {
    const key = verifier("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k");
    const text = "This is an example message.\n";
    const line =
      "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=";
    expect(openNote(`${text}\n${line}\n`, [key])).toMatchObject({ kind: "opened", text });
  });

  test("keys are read and written as by Go", () => {
    expect(formatVerifierKey(peterSigner)).toBe(PETER);
    expect(formatVerifierKey(peter)).toBe(PETER);
    expect(peter.keyId).toBe(0xc74f20a3);
  });
});

describe("opening a note", () => {
  const stranger = createSigningKey(new Uint8Array(32).fill(9));

  test("fails with unknown_key without a known signature, even under a known name or a known id", () => {
    expect(openNote(SIGNED, [])).toEqual(failed("unknown_key"));
    expect(openNote(SIGNED, [enoch])).toEqual(failed("unknown_key"));
    const sameName = signNote(TEXT, [stranger.signerNamed("PeterNeumann")]);
    expect(openNote(sameName, [peter])).toEqual(failed("unknown_key"));
    const sameId = signNote(TEXT, [{ ...stranger.signerNamed("other"), keyId: peter.keyId }]);
    expect(openNote(sameId, [peter])).toEqual(failed("unknown_key"));
  });

  test("fails if a known key has a wrong signature, however many right ones there are", () => {
    const forged = signNote(TEXT, [{ ...stranger.signerNamed("EnochRoot"), keyId: enoch.keyId }]);
    const forgedLine = forged.slice(TEXT.length + 1);
    for (const note of [`${SIGNED}${forgedLine}`, `${TEXT}\n${forgedLine}${PETER_LINE}`]) {
      expect(openNote(note, [peter, enoch])).toEqual(failed("bad_signature"));
      expect(openNote(note, [peter])).toMatchObject({ kind: "opened" });
    }
    expect(openNote(`${SIGNED}${forgedLine}${ENOCH_LINE}`, [peter, enoch])).toEqual(failed("bad_signature"));
  });

  test("fails if a signature by a known key has the wrong length", () => {
    const short = { ...peter, sign: () => new Uint8Array(63) };
    const long = { ...peter, sign: () => new Uint8Array(65) };
    expect(openNote(signNote(TEXT, [short]), [peter])).toEqual(failed("bad_signature"));
    expect(openNote(signNote(TEXT, [long]), [peter])).toEqual(failed("bad_signature"));
  });

  test("ignores signatures of other kinds, whether longer or shorter", () => {
    const others: Signer[] = [1, 63, 76, 2420].map((length, at) => ({
      ...stranger.signerNamed(`witness.example/${at}`),
      sign: () => new Uint8Array(length).fill(at),
    }));
    const note = signNote(TEXT, [...others, peterSigner]);
    expect(openNote(note, [peter])).toMatchObject({ kind: "opened", verifiers: [peter] });
  });

  test("counts a repeated signature once", () => {
    expect(openNote(`${SIGNED}${PETER_LINE}`, [peter])).toMatchObject({ kind: "opened", verifiers: [peter] });
  });

  test("gives a text with empty lines, because the last empty line before the signatures is the separator", () => {
    const text = "\n\nfirst\n\n— not a signature\n\n";
    const note = signNote(text, [peterSigner]);
    expect(openNote(note, [peter])).toMatchObject({ kind: "opened", text });
  });

  test("accepts the maximum number of signatures and not one more", () => {
    const line = signNote(TEXT, [stranger.signerNamed("other")]).slice(TEXT.length + 1);
    const note = (others: number): string => SIGNED + line.repeat(others);
    expect(openNote(note(NOTE_SIGNATURES_MAX - 1), [peter])).toMatchObject({ kind: "opened" });
    expect(openNote(note(NOTE_SIGNATURES_MAX), [peter])).toEqual(failed("malformed"));
  });
});

describe("text that is not a note", () => {
  const base64 = PETER_LINE.split(" ")[2]?.trim() ?? "";

  test.each([
    ["nothing", ""],
    ["only a newline", "\n"],
    ["only newlines", "\n\n"],
    ["only text", TEXT],
    ["no signature", `${TEXT}\n`],
    ["no empty line", `${TEXT}${PETER_LINE}`],
    ["no newline at the end", SIGNED.slice(0, -1)],
    ["a carriage return", SIGNED.replaceAll("\n", "\r\n")],
    ["a control character in the text", SIGNED.replace("think", "thi\u0000nk")],
    ["a tab in the text", SIGNED.replace("think", "thi\tnk")],
    ["a control character in a name", SIGNED.replace("PeterN", "Peter\u001fN")],
    ["half a surrogate pair", SIGNED.replace("think", "\ud800")],
    ["a hyphen for the dash", SIGNED.replace("— ", "- ")],
    ["an en dash", SIGNED.replace("— ", "– ")],
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
    ["base64 for URLs", SIGNED.replaceAll("/", "_")],
    ["a key id without a signature", SIGNED.replace(base64, "x08gow==")],
    ["an unknown signature that is malformed", `${SIGNED}— other ====\n`],
    ["another text below", `${SIGNED}more\n`],
  ])("%s", (_, note) => {
    expect(openNote(note, [peter])).toEqual(failed("malformed"));
  });

  test("signatures without a text, even valid ones of an empty text", () => {
    const { sign, ...key } = peterSigner;
    const ofNothing = { ...key, sign: () => sign(new Uint8Array()) };
    const lines = signNote(TEXT, [ofNothing]).slice(TEXT.length + 1);
    for (const note of [lines, `?${lines}`, `\n${lines}`])
      expect(openNote(note, [peter])).toEqual(failed("malformed"));
  });

  test("no byte of the text, of the key id or of the signature can be changed", () => {
    fc.assert(
      fc.property(fc.nat({ max: SIGNED.length - 1 }), fc.nat({ max: 0xffff }), (at, code) => {
        const changed = `${SIGNED.slice(0, at)}${String.fromCharCode(code)}${SIGNED.slice(at + 1)}`;
        if (changed !== SIGNED) expect(openNote(changed, [peter]).kind).toBe("failed");
      }),
      { numRuns: 5000 },
    );
  });

  test("no text throws, even if it is not a note", () => {
    const pieces = fc.array(
      fc.constantFrom("\n", "— ", "PeterNeumann", " ", base64, "text", "+", "=", "\ud800"),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          pieces.map((parts) => parts.join("")),
        ),
        (note) => {
          openNote(note, [peter]);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("a text that a note cannot contain is not signed", () => {
    for (const text of ["", "no newline", "tab\t\n", "\r\n", "\ud800\n"])
      expect(() => signNote(text, [peterSigner])).toThrow(RangeError);
    expect(() => signNote(TEXT, [])).toThrow(RangeError);
  });

  test("every text that can be signed opens unchanged", () => {
    const text = fc.string({ unit: "grapheme" }).map((text) => `${text.replace(/\p{Cc}/gu, "")}\n`);
    fc.assert(
      fc.property(text, (text) => {
        const note = signNote(text, [peterSigner]);
        expect(openNote(note, [peter])).toEqual({ kind: "opened", text, verifiers: [peter] });
      }),
    );
  });
});

describe("keys", () => {
  test("a name has no space of any script, no plus, and no character that a note cannot contain", () => {
    for (const name of ["example.com/log42", "ä", "日本", "a:b", "—"]) expect(isKeyName(name)).toBe(true);
    for (const name of [
      "",
      " ",
      "a b",
      "a+b",
      "a\nb",
      "a\u0085b",
      "a\u00a0b",
      "a\u2028b",
      "a\u3000b",
      "\u0001",
      "\ud800",
    ])
      expect(isKeyName(name)).toBe(false);
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
    PETER.replace("PeterNeumann", ""),
    PETER.replace("PeterNeumann", "Peter Neumann"),
    PETER.replace("+ARpc", "+AhpC"),
    PETER.replace("+ARpc", "+BBpc"),
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
      const text = `n+00000000+${encodeBase64(Uint8Array.of(1, ...publicKey))}`;
      expect(parseVerifierKey(text)).toBeUndefined();
      const signed = signNote(TEXT, [
        { ...createVerifier({ name: "n", publicKey }), sign: () => new Uint8Array(64).fill(1) },
      ]);
      expect(openNote(signed, [createVerifier({ name: "n", publicKey })])).toEqual(failed("bad_signature"));
    }
    expect(() => createVerifier({ name: "n", publicKey: new Uint8Array(31) })).toThrow(RangeError);
    expect(() => createSigningKey(new Uint8Array(33))).toThrow(RangeError);
    expect(() => createSigningKey(new Uint8Array(32)).signerNamed("a b")).toThrow(RangeError);
  });
});
