/** The extension line of a head (C2SP tlog-checkpoint) that says that its log was restored from an older copy, and that this was accepted. */
import { encodeBase64 } from "./base64.ts";
import { formatDecimal, parseDecimal } from "./decimal.ts";
import type { Checkpoint } from "./tlog-checkpoint.ts";

const RESTORED = "prooftrail.restored";

/** `known` was signed before, and the restored log does not extend it. `size`: that of its tree when this was accepted. */
export const restoredLine = (size: number, known: Pick<Checkpoint, "size" | "root">): string =>
  [RESTORED, formatDecimal(size), formatDecimal(known.size), encodeBase64(known.root)].join(" ");

/** Undefined if the line says something else. */
const parseLine = (line: string): { readonly restored: number; readonly known: number } | undefined => {
  const [name, restoredText = "", knownText = ""] = line.split(" ");
  const [restored, known] = [parseDecimal(restoredText), parseDecimal(knownText)];
  return name === RESTORED && restored !== undefined && known !== undefined ? { restored, known } : undefined;
};

/** Whether an operator has accepted that the log need not extend this head: a later head says so in a line that this one lacks. */
export const isGivenUp = (head: Checkpoint, lines: readonly string[]): boolean =>
  lines.some((line) => head.size <= (parseLine(line)?.known ?? -1) && !head.extensions?.includes(line));

/** What the lines of a head say, in sentences. */
export const restorationNotes = (lines: readonly string[] = []): readonly string[] =>
  lines.flatMap((line) => {
    const said = parseLine(line);
    return said
      ? `The log was restored from an older copy: of ${said.known} records that were signed, ${said.restored} were left, and others came after them.`
      : [];
  });
