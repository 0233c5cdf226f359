import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createSigningKey, createVerifier, signNote } from "./signed-note.ts";
import { formatCheckpoint, openCheckpoint, parseCheckpoint } from "./tlog-checkpoint.ts";

/** The text of the note in the specification's example. */
const EXAMPLE = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";

test("the specification's example is read and written unchanged", () => {
  const checkpoint = parseCheckpoint(EXAMPLE);
  expect(checkpoint).toMatchObject({ origin: "example.com/behind-the-sofa", size: 20852163 });
  expect(checkpoint && formatCheckpoint(checkpoint)).toBe(EXAMPLE);
});

test("every checkpoint is read back unchanged", () => {
  const line = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !text.includes("\n"));
  fc.assert(
    fc.property(
      line,
      fc.nat({ max: Number.MAX_SAFE_INTEGER }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.array(line, { minLength: 1, maxLength: 3 }),
      (origin, size, root, extensions) => {
        const plain = { origin, size, root };
        expect(parseCheckpoint(formatCheckpoint(plain))).toEqual(plain);
        expect(parseCheckpoint(formatCheckpoint({ ...plain, extensions }))).toEqual({ ...plain, extensions });
      },
    ),
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
test.each([
  ["nothing", ""],
  ["no root", "o\n1\n"],
  ["no newline at the end", `o\n1\n${ROOT}`],
  ["an empty line at the end", `o\n1\n${ROOT}\n\n`],
  ["an empty line between extensions", `o\n1\n${ROOT}\nx\n\ny\n`],
  ["no origin", `\n1\n${ROOT}\n`],
  ["an empty size", `o\n\n${ROOT}\n`],
  ["a leading zero", `o\n01\n${ROOT}\n`],
  ["two zeros", `o\n00\n${ROOT}\n`],
  ["a sign", `o\n+1\n${ROOT}\n`],
  ["a negative size", `o\n-1\n${ROOT}\n`],
  ["an exponent", `o\n1e3\n${ROOT}\n`],
  ["hexadecimal", `o\n0x10\n${ROOT}\n`],
  ["a space", `o\n1 \n${ROOT}\n`],
  ["digits of another script", `o\n١\n${ROOT}\n`],
  ["a size that no number holds", `o\n9007199254740992\n${ROOT}\n`],
  ["a carriage return", `o\r\n1\r\n${ROOT}\r\n`],
  ["a short root", "o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxqw==\n"],
  ["a long root", "o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2IA\n"],
  ["a root without padding", "o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I\n"],
  ["a root with bits left over", "o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2J=\n"],
])("%s is not a checkpoint", (_, text) => {
  expect(parseCheckpoint(text)).toBeUndefined();
});

describe("opening a signed checkpoint", () => {
  const key = createSigningKey(new Uint8Array(32).fill(3));
  const verifierOf = (name: string) => createVerifier({ name, publicKey: key.publicKey });
  const checkpoint = { origin: "log.example/one", size: 7, root: new Uint8Array(32).fill(1) };
  const note = signNote(formatCheckpoint(checkpoint), [key.signerNamed("log.example/one")]);
  const one = { origin: "log.example/one", verifiers: [verifierOf("log.example/one")] };
  const two = { origin: "log.example/two", verifiers: [verifierOf("log.example/two")] };

  test("gives the checkpoint of the requested log", () => {
    expect(openCheckpoint(note, one)).toEqual({ kind: "opened", checkpoint, verifiers: one.verifiers });
    expect(openCheckpoint(note, two)).toEqual({ kind: "failed", reason: "unknown_key" });
  });

  test("refuses another log's checkpoint, even if one key signs for both logs", () => {
    const relabelled = signNote(formatCheckpoint(checkpoint), [key.signerNamed("log.example/two")]);
    expect(openCheckpoint(relabelled, two)).toEqual({ kind: "failed", reason: "wrong_origin" });
  });

  test("fails with malformed if the signed text is not a checkpoint", () => {
    const other = signNote("log.example/one\n7\n", [key.signerNamed("log.example/one")]);
    expect(openCheckpoint(other, one)).toEqual({ kind: "failed", reason: "malformed" });
    expect(openCheckpoint("", one)).toEqual({ kind: "failed", reason: "malformed" });
    expect(openCheckpoint(note.replace("\n7\n", "\n8\n"), one)).toEqual({
      kind: "failed",
      reason: "bad_signature",
    });
  });
});
