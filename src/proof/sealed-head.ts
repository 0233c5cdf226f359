/** Signed tree heads as this service writes them: their text, the line of a restored log, and the origin of the sandbox. */
import { encodeBase64 } from "./base64.ts";
import { type Checkpoint, checkpointIn, formatDecimal, parseDecimal } from "./tlog-checkpoint.ts";

/** As it is stored. Who signed it is not checked: readers verify it, and so does the sealer. */
export interface SealedHead extends Omit<Checkpoint, "origin"> {
  readonly note: string;
}

export const sealedHead = (note: string): SealedHead | undefined => {
  const checkpoint = checkpointIn(note);
  return checkpoint && { note, ...checkpoint };
};

const RESTORED = "prooftrail.restored";

/**
 * The extension line of a log that was restored from an older copy, after an operator accepted that. `known` was signed before, and the restored log
 * does not extend it. `size`: that of its tree when this was accepted.
 */
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
      ? `The log was restored from an older copy: of ${said.known} signed records, ${said.restored} were left, and others came after them.`
      : [];
  });

/**
 * The origin of the sandbox's tree heads, and the name of its key. No installation can have it: SERVICE_NAME is in lower case. A name has no spaces
 * (C2SP signed-note), so the watermark itself stands in a signed line of the head.
 */
export const SANDBOX_ORIGIN = "SANDBOX-NOT-FOR-PRODUCTION/sandbox";

export const isSandboxOrigin = (origin: string): boolean => origin.startsWith("SANDBOX-NOT-FOR-PRODUCTION/");

export const SANDBOX_PROOF =
  "this is a sandbox proof: its content was never in a log, and it can never be evidence";
