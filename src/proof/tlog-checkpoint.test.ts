import { expect, test } from "bun:test";
import fc from "fast-check";
import { createSigningKey, createVerifier, signNote } from "./signed-note.ts";
import { formatCheckpoint, openCheckpoint, parseCheckpoint } from "./tlog-checkpoint.ts";

/** The text of the note in the specification's example. */
const EXAMPLE = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";

test("every checkpoint, and the specification's example, is read and written unchanged", () => {
  const example = parseCheckpoint(EXAMPLE);
  expect(example).toMatchObject({ origin: "example.com/behind-the-sofa", size: 20852163 });
  expect(example && formatCheckpoint(example)).toBe(EXAMPLE);
  const line = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !text.includes("\n"));
  const checkpoint = fc.record({
    origin: line,
    size: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    root: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    extensions: fc.array(line, { minLength: 1, maxLength: 3 }),
  });
  fc.assert(
    fc.property(checkpoint, ({ extensions, ...plain }) => {
      expect(parseCheckpoint(formatCheckpoint(plain))).toEqual(plain);
      expect(parseCheckpoint(formatCheckpoint({ ...plain, extensions }))).toEqual({ ...plain, extensions });
    }),
  );
});

test("a checkpoint has only one text, and no other text is read", () => {
  const inserted = fc.constantFrom("0", "\n", "\r", " ", "A", "=", "+", "٣", "line\n");
  fc.assert(
    fc.property(fc.nat({ max: EXAMPLE.length }), fc.nat({ max: 2 }), inserted, (at, removed, inserted) => {
      const text = EXAMPLE.slice(0, at) + inserted + EXAMPLE.slice(at + removed);
      const parsed = parseCheckpoint(text);
      if (parsed !== undefined) expect(formatCheckpoint(parsed)).toBe(text);
    }),
    { numRuns: 3000 },
  );
});

const ROOT = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
const sized = (size: string): string => `o\n${size}\n${ROOT}\n`;
test.each([
  ["nothing", ""],
  ["no root", "o\n1\n"],
  ["no newline at the end", `o\n1\n${ROOT}`],
  ["an empty line at the end", `o\n1\n${ROOT}\n\n`],
  ["an empty line between extensions", `o\n1\n${ROOT}\nx\n\ny\n`],
  ["no origin", `\n1\n${ROOT}\n`],
  ["an empty size", sized("")],
  ["a leading zero", sized("01")],
  ["two zeros", sized("00")],
  ["a sign", sized("+1")],
  ["a negative size", sized("-1")],
  ["an exponent", sized("1e3")],
  ["hexadecimal", sized("0x10")],
  ["a space", sized("1 ")],
  ["digits of another script", sized("١")],
  ["a size that no number holds", sized("9007199254740992")],
  ["a carriage return", `o\r\n1\r\n${ROOT}\r\n`],
  ["a short root", "o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxqw==\n"],
  ["a long root", "o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2IA\n"],
  ["a root with bits left over", "o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2J=\n"],
])("%s is not a checkpoint", (_, text) => {
  expect(parseCheckpoint(text)).toBeUndefined();
});

test("a signed checkpoint is that of the requested log, even if one key signs for several logs", () => {
  const [ONE, TWO] = ["log.example/one", "log.example/two"];
  const key = createSigningKey(new Uint8Array(32).fill(3));
  const checkpoint = { origin: ONE, size: 7, root: new Uint8Array(32).fill(1) };
  const signed = (text: string, name: string): string => signNote(text, [key.signerNamed(name)]);
  const note = signed(formatCheckpoint(checkpoint), ONE);
  const open = (note: string, origin: string) =>
    openCheckpoint(note, { origin, verifiers: [createVerifier({ name: origin, publicKey: key.publicKey })] });
  expect(open(note, ONE)).toMatchObject({ kind: "opened", checkpoint, verifiers: [{ name: ONE }] });
  for (const [given, origin, reason] of [
    [note, TWO, "unknown_key"],
    [signed(formatCheckpoint(checkpoint), TWO), TWO, "wrong_origin"],
    [signed(`${ONE}\n7\n`, ONE), ONE, "malformed"],
    ["", ONE, "malformed"],
    [note.replace("\n7\n", "\n8\n"), ONE, "bad_signature"],
  ] as const)
    expect(open(given, origin)).toEqual({ kind: "failed", reason });
});
