/** The SDK as its users install it: built, and in the node_modules of a folder of its own. */
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { WAIT_MS_MAX } from "../support/time-limits.ts";

export const ROOT = resolve(import.meta.dir, "../..");

export interface Installed extends AsyncDisposable {
  /** A program in this folder imports the package by its name. */
  readonly folder: string;
  /** The package itself. */
  readonly packageFolder: string;
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

/** Next to it is what is installed here, for programs and for their other dependencies. */
export const installBuiltPackage = async (): Promise<Installed> => {
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-installed-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const modules = join(folder, "node_modules");
  const packageFolder = join(modules, "prooftrail");
  await mkdir(modules);
  const built = await run([process.execPath, "src/packaging/sdk-package.ts", "--outdir", packageFolder]);
  if (built.code !== 0) {
    await remove();
    throw new Error(built.output);
  }
  for (const name of await readdir(join(ROOT, "node_modules")))
    if (!name.startsWith(".")) await symlink(join(ROOT, "node_modules", name), join(modules, name));
  return { folder, packageFolder, [Symbol.asyncDispose]: remove };
};
