/** The SDK as its users install it: built, and in the node_modules of a folder of its own. */
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { WAIT_MS_MAX } from "../support/time-limits.ts";

export const ROOT = resolve(import.meta.dir, "../..");

export interface Installed extends AsyncDisposable {
  /** A program in this folder imports the package by its name. */
  readonly folder: string;
  /** The package itself, unpacked. */
  readonly packageFolder: string;
  /** The file that `build:sdk` made. */
  readonly file: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The program is killed after this time. */
  readonly timeoutMs?: number;
}

export const run = async (
  command: readonly string[],
  { cwd = ROOT, env, timeoutMs = WAIT_MS_MAX }: RunOptions = {},
): Promise<{ readonly code: number; readonly output: string }> => {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, output: output + errors };
};

/** Unpacked, as a package manager does it. Next to it is what is installed here, for programs and for their other dependencies. */
export const installBuiltPackage = async (): Promise<Installed> => {
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-installed-"));
  const modules = join(folder, "node_modules");
  const packageFolder = join(modules, "prooftrail-sdk");
  try {
    await mkdir(packageFolder, { recursive: true });
    const file = await must([process.execPath, "src/service/packaging/sdk-package.ts", "--outdir", folder]);
    await must(["tar", "-xzf", file, "-C", packageFolder, "--strip-components=1"]);
    for (const name of await readdir(join(ROOT, "node_modules")))
      if (!name.startsWith(".")) await symlink(join(ROOT, "node_modules", name), join(modules, name));
    return { folder, packageFolder, file, [Symbol.asyncDispose]: () => remove(folder) };
  } catch (error) {
    await remove(folder);
    throw error;
  }
};

const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

const must = async (command: readonly string[]): Promise<string> => {
  const { code, output } = await run(command);
  if (code !== 0) throw new Error(output);
  return output.trim();
};
