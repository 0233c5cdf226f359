/** Downloads a pinned release archive and takes the program out of it. Nothing is unpacked before its digest is right. */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ReleaseArchive } from "./release-archives.ts";
import { runCommand } from "./run-command.ts";

export type ObtainAttempt =
  | { readonly kind: "obtained"; readonly binary: string }
  /** One line: why this way did not work. */
  | { readonly kind: "failed"; readonly reason: string };

/** Short, because a start must not wait for an unreachable host: the distribution's package is next. */
const ANSWER_MS_MAX = 5000;
const DOWNLOAD_MS_MAX = 120_000;
const UNPACK_MS_MAX = 30_000;

/** Leaves the program in `directory`, which belongs to this call. */
export const downloadRelease = async (archive: ReleaseArchive, directory: string): Promise<ObtainAttempt> => {
  const downloaded = await download(archive.url);
  if (typeof downloaded === "string") return { kind: "failed", reason: `${archive.url}: ${downloaded}` };
  const digest = createHash("sha256").update(downloaded).digest("hex");
  if (digest !== archive.sha256) {
    const reason = `${archive.url}: SHA-256 is ${digest}, not the pinned ${archive.sha256}; not unpacked`;
    return { kind: "failed", reason };
  }
  const file = join(directory, "nats-server.tar.gz");
  await writeFile(file, downloaded);
  const parameters = ["-xzf", file, "-C", directory, archive.entry];
  const unpacked = await runCommand("tar", parameters, { timeoutMs: UNPACK_MS_MAX });
  if (unpacked.kind === "failed") return { kind: "failed", reason: `tar: ${unpacked.reason}` };
  return { kind: "obtained", binary: join(directory, archive.entry) };
};

/** The bytes, or why there are none. */
const download = async (url: string): Promise<Uint8Array | string> => {
  const deadline = new AbortController();
  const late = (): void => deadline.abort(new Error("no answer in time"));
  let timer = setTimeout(late, ANSWER_MS_MAX);
  try {
    const response = await fetch(url, { signal: deadline.signal });
    clearTimeout(timer);
    timer = setTimeout(late, DOWNLOAD_MS_MAX);
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    await response.body?.cancel();
    return `HTTP status ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
};
