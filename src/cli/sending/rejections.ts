/** Writes events that will never be accepted to a file of NDJSON or to standard error. No refusal is silent. */
import { open, stat } from "node:fs/promises";
import { missingAs } from "../../runtime/durable-file.ts";
import { printable } from "../../runtime/printable.ts";
import type { Input } from "../command.ts";
import type { Context } from "../context.ts";
import { type FieldError, failure, reasonOf } from "../failure.ts";

export interface Rejection {
  /** Of the input, counted from 1. */
  readonly line: number;
  readonly event_id?: string;
  readonly code: string;
  readonly message: string;
  readonly errors: readonly FieldError[];
  /** As it was sent; absent if the line was not JSON. */
  readonly text?: string;
}

export interface Rejections extends AsyncDisposable {
  /** When it resolves, the rejection is on disk, if it goes to a file. */
  add(rejections: readonly Rejection[]): Promise<void>;
}

export const openRejections = async (input: Input, { err }: Context): Promise<Rejections> => {
  const path = input.text("--rejected");
  if (path === undefined) {
    const textOf = input.isSet("--json") ? rejectionLine : rejectionText;
    return {
      add: async (rejections) => {
        for (const each of rejections) await err.write(textOf(each));
      },
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const cannot = (error: unknown): never => {
    throw failure("unreadable_file", `${path} cannot be written: ${reasonOf(error)}.`);
  };
  // Opened for appending: refused events of an earlier run stay in it.
  const isCutOff = await endsInLine(path).catch(cannot);
  const file = await open(path, "a", 0o600).catch(cannot);
  if (isCutOff) await file.writeFile("\n").catch(cannot);
  const append = async (text: string): Promise<void> => {
    await file.writeFile(text);
    await file.sync();
  };
  return {
    add: async (rejections) => {
      if (rejections.length > 0) await append(rejections.map(rejectionLine).join("")).catch(cannot);
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
};

/** If a killed run left an incomplete last line, only that line is lost. A pipe or a terminal cannot be checked. */
const endsInLine = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(missingAs(undefined));
  if (!found?.isFile() || found.size === 0) return false;
  await using file = await open(path, "r");
  const { buffer } = await file.read(new Uint8Array(1), 0, 1, found.size - 1);
  return buffer[0] !== 0x0a;
};

/** The event as it was sent, including numbers that no double can hold. */
const rejectionLine = ({ text, ...rest }: Rejection): string =>
  `${JSON.stringify(rest).slice(0, -1)}${text === undefined ? "" : `,"event":${text.trim()}`}}\n`;

const rejectionText = ({ line, event_id, code, message, errors }: Rejection): string => {
  const name = event_id === undefined ? "" : ` (${printable(event_id)})`;
  const head = `line ${line}${name}: ${printable(message)} (${printable(code)})\n`;
  const fields = errors.map(({ path, message: what }) => `  ${printable(path)}: ${printable(what)}\n`);
  return head + fields.join("");
};
