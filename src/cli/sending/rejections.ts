/** Where events go that will never be taken: a file of NDJSON, or standard error. Nothing is refused without a word. */
import { type FileHandle, open } from "node:fs/promises";
import { printable } from "../../verifier/printable.ts";
import type { Input } from "../command.ts";
import type { Context } from "../context.ts";
import { type FieldError, failure, reasonOf } from "../failure.ts";
import { parseJson } from "../json.ts";

export interface Rejection {
  /** Line of the input on which the event begins, from 1. */
  readonly line: number;
  readonly event_id?: string;
  readonly code: string;
  readonly message: string;
  readonly errors: readonly FieldError[];
  /** As it was sent; absent where the line was no JSON. */
  readonly text?: string;
}

export interface Rejections extends AsyncDisposable {
  /** On disk, where it is a file, when it resolves. */
  add(rejections: readonly Rejection[]): Promise<void>;
}

export const openRejections = async (input: Input, { err }: Context): Promise<Rejections> => {
  const path = input.text("--rejected");
  if (path === undefined) {
    const isJson = input.isSet("--json");
    return {
      add: async (rejections) => {
        for (const each of rejections) await err.write(isJson ? rejectionLine(each) : rejectionText(each));
      },
      [Symbol.asyncDispose]: async () => {},
    };
  }
  // Added to: what an earlier run refused is still there.
  const file = await open(path, "a", 0o600).catch((error: unknown) => {
    throw failure("unreadable_file", `${path} cannot be written: ${reasonOf(error)}.`);
  });
  return { add: (rejections) => append(file, path, rejections), [Symbol.asyncDispose]: () => file.close() };
};

const append = async (file: FileHandle, path: string, rejections: readonly Rejection[]): Promise<void> => {
  if (rejections.length === 0) return;
  try {
    await file.writeFile(rejections.map(rejectionLine).join(""));
    await file.sync();
  } catch (error) {
    throw failure("unreadable_file", `${path} cannot be written: ${reasonOf(error)}.`);
  }
};

/** The event as it was sent: numbers that no double holds stay whole. */
const rejectionLine = ({ text, ...rest }: Rejection): string => {
  const isJson = text !== undefined && parseJson(text) !== undefined;
  const event = isJson ? `,"event":${text.replaceAll(/[\r\n]/g, " ")}` : "";
  return `${JSON.stringify(rest).slice(0, -1)}${event}}\n`;
};

const rejectionText = ({ line, event_id, code, message, errors }: Rejection): string => {
  const name = event_id === undefined ? "" : ` (${printable(event_id)})`;
  const head = `line ${line}${name}: ${printable(message)} (${code})\n`;
  const fields = errors.map(({ path, message: what }) => `  ${printable(path)}: ${printable(what)}\n`);
  return head + fields.join("");
};
