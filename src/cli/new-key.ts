/** A newly created key: shown once, or written to a file that is created before the key. */
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolderIfReadable } from "../runtime/durable-file.ts";
import { printable } from "../runtime/printable.ts";
import type { Input } from "./command.ts";
import type { Context } from "./context.ts";
import { failure, reasonOf } from "./failure.ts";
import { asRecord, type JsonRecord, shown } from "./json.ts";
import { printAnswer, tableColumns } from "./output.ts";
import { detailLines } from "./table.ts";

export const SAVE_OPTION = {
  flag: "--save",
  value: "file",
  description:
    "write the new key to this file, which must not exist yet and only you can read, instead of showing it",
  isFile: true,
} as const;

interface Saved extends AsyncDisposable {
  readonly path: string | undefined;
  write(text: string): Promise<void>;
}

/** Before the key: one that cannot be stored would be lost. From here on Ctrl-C must arrive as Interrupted, or it would leave the file. */
export const openSave = async (input: Input): Promise<Saved> => {
  const path = input.text("--save");
  if (path === undefined) return { path, write: async () => {}, [Symbol.asyncDispose]: async () => {} };
  const cannot = (error: unknown): never => {
    throw failure(
      "unreadable_file",
      `${path} cannot be made: ${reasonOf(error)}.`,
      "Name a file that does not exist yet, in a folder that does and that you may write into.",
    );
  };
  const file = await open(path, "wx", 0o600).catch(cannot);
  const giveUp = async (): Promise<void> => {
    await file.close();
    await rm(path, { force: true });
  };
  // Otherwise a power failure could lose the file's name, and with it a key that nobody can see again.
  await syncFolderIfReadable(dirname(path)).catch(async (error: unknown) => {
    await giveUp();
    cannot(error);
  });
  let isWritten = false;
  return {
    path,
    write: async (text) => {
      await file.writeFile(text);
      await file.sync();
      isWritten = true;
    },
    // If no key was created, the next attempt may use the name.
    [Symbol.asyncDispose]: () => (isWritten ? file.close() : giveUp()),
  };
};

export const printNewKey = async (
  context: Context,
  input: Input,
  parts: { readonly answer: { text: string; value: unknown }; readonly saved: Saved; readonly title: string },
): Promise<void> => {
  const { answer, saved, title } = parts;
  const { path } = saved;
  const data = asRecord(asRecord(answer.value)?.data) ?? {};
  const { api_key: secret, previous, ...visible } = data;
  if (path !== undefined)
    await saved.write(`${shown(secret)}\n`).catch((error: unknown) => {
      throw failure(
        "unwritten_output",
        `${path} cannot be written: ${reasonOf(error)}. The key ${shown(visible.id)} was made, and nobody can see its secret any more.`,
        `Make space, make another, and revoke it: prooftrail keys revoke ${shown(visible.id)}`,
      );
    });
  const old = asRecord(previous);
  const shownAnswer =
    path === undefined
      ? { received: answer.text }
      : { data: { ...visible, ...(old && { previous }), saved_to: path } };
  await printAnswer(context, input, shownAnswer, () =>
    [
      `${title}\n\n${detailLines(keyDetails(visible), tableColumns(context.out))}`,
      ...(old
        ? [`\nThe old key ${printable(shown(old.id))} works until ${printable(shown(old.grace_until))}.\n`]
        : []),
      path === undefined
        ? `\nThis is the key. It is shown only now; keep it like a password:\n\n  ${printable(shown(secret))}\n`
        : `\nIt is in ${printable(path)}, which only you can read: --key-file ${printable(path)}\n`,
    ].join(""),
  );
};

const keyDetails = (key: JsonRecord): readonly (readonly [string, string | undefined])[] => {
  const limit = asRecord(key.rate_limit);
  return [
    ["id", shown(key.id)],
    ["tenant", shown(key.tenant)],
    ["name", key.name === undefined ? undefined : shown(key.name)],
    ["person", key.person === undefined ? undefined : shown(key.person)],
    ["role", key.role === undefined ? undefined : shown(key.role)],
    ["scopes", scopesText(key)],
    ["covers", key.covers === undefined ? undefined : JSON.stringify(key.covers)],
    ["expires", key.expires_at === undefined ? "never" : shown(key.expires_at)],
    ["limits", limit && rateText(limit)],
  ];
};

export const scopesText = ({ scopes }: JsonRecord): string => (Array.isArray(scopes) ? scopes.join(" ") : "");

const rateText = ({ requests_per_second: requests, events_per_second: events }: JsonRecord): string =>
  [
    ...(requests === undefined ? [] : [`${shown(requests)} requests/s`]),
    ...(events === undefined ? [] : [`${shown(events)} events/s`]),
  ].join(", ");
