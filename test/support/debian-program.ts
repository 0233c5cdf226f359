/** A program from this machine's Debian release, unpacked into the user's cache without root. Tests are skipped with the reason where there is none. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { openPrivateApt } from "../../src/nats/broker/debian-package.ts";

export type DebianProgram =
  | {
      readonly kind: "found";
      readonly path: string;
      /** With the libraries of the packages. */
      readonly environment: Readonly<Record<string, string>>;
    }
  | { readonly kind: "missing"; readonly reason: string };

/** The packages that the program needs beside what every Debian has, the program's own first. */
export const debianProgram = async (
  packages: readonly [string, ...string[]],
  program: string,
): Promise<DebianProgram> => {
  const cache = resolve(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "prooftrail");
  const root = join(cache, `debian-${packages[0]}`);
  if (!existsSync(join(root, program))) {
    try {
      await unpack(packages, { cache, root });
    } catch (error) {
      return { kind: "missing", reason: String(error) };
    }
  }
  const libraries = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map((name) => join(root, "usr/lib", name));
  return {
    kind: "found",
    path: join(root, program),
    environment: { LD_LIBRARY_PATH: libraries.join(":") },
  };
};

const unpack = async (
  packages: readonly string[],
  { cache, root }: { readonly cache: string; readonly root: string },
): Promise<void> => {
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, ".unpacking-"));
  try {
    const apt = await openPrivateApt(directory);
    await apt.unpack(packages, join(directory, "root"));
    await rename(join(directory, "root"), root).catch(async (error: unknown) => {
      // Another process was faster.
      if (!existsSync(root)) throw error;
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
