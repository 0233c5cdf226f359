/**
 * Gets packages from the Debian archive without root and without touching the machine's own package state: apt runs on a state directory
 * of its own, with this machine's mirror as its only source. Signatures are checked as always.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type AptSource,
  type DebianMirror,
  debianMirror,
  parseDeb822Sources,
  parseOneLineSources,
} from "./apt-sources.ts";
import { type CommandOutcome, runCommand } from "./run-command.ts";

const APT_DIRECTORY = "/etc/apt";
/** In this order: the second is the name since Debian 13. */
const ARCHIVE_KEYRINGS = [
  "/usr/share/keyrings/debian-archive-keyring.gpg",
  "/usr/share/keyrings/debian-archive-keyring.pgp",
];
const UPDATE_MS_MAX = 60_000;
const DOWNLOAD_MS_MAX = 120_000;
const ASK_MS_MAX = 30_000;
const UNPACK_MS_MAX = 120_000;

type PrivateApt =
  | {
      readonly kind: "ready";
      /** What apt-cache prints. */
      ask(command: readonly string[]): Promise<CommandOutcome>;
      /** Puts the files of these packages under `root`, runs nothing of theirs; the reason if it did not work. */
      unpack(packages: readonly string[], root: string): Promise<string | undefined>;
    }
  | { readonly kind: "failed"; readonly reason: string };

interface PrivateAptOptions {
  /** An empty directory for this call alone. */
  readonly directory: string;
  /** Undefined: the machine's own suite. */
  readonly suite: string | undefined;
}

export const openPrivateApt = async ({ directory, suite }: PrivateAptOptions): Promise<PrivateApt> => {
  const codename = /^VERSION_CODENAME="?([a-z]+)/m.exec(await readText("/etc/os-release"))?.[1];
  const mirror = await findMirror(codename);
  if (typeof mirror === "string") return { kind: "failed", reason: mirror };
  const chosen = suite ?? codename;
  if (chosen === undefined) return { kind: "failed", reason: "this machine does not say which Debian it is" };
  const options = await privateState(directory, mirror, chosen);
  const run = (program: string, command: readonly string[], timeoutMs: number): Promise<CommandOutcome> =>
    runCommand(program, [...options, ...command], { directory, timeoutMs });

  const updated = await run("apt-get", ["update"], UPDATE_MS_MAX);
  if (updated.kind === "failed") return { kind: "failed", reason: `apt-get update: ${updated.reason}` };
  return {
    kind: "ready",
    ask: (command) => run("apt-cache", command, ASK_MS_MAX),
    unpack: async (packages, root) => {
      const downloaded = await run("apt-get", ["download", ...packages], DOWNLOAD_MS_MAX);
      if (downloaded.kind === "failed") return `apt-get download: ${downloaded.reason}`;
      const files = (await readdir(directory)).filter((name) => name.endsWith(".deb"));
      if (files.length < packages.length) return "apt-get download left no package";
      for (const file of files) {
        const unpacked = await runCommand("dpkg", ["-x", join(directory, file), root], {
          timeoutMs: UNPACK_MS_MAX,
        });
        if (unpacked.kind === "failed") return `dpkg -x: ${unpacked.reason}`;
      }
      return undefined;
    },
  };
};

type SignedMirror = DebianMirror & { readonly keyring: string };

/** The mirror with a keyring, or why there is none. */
const findMirror = async (codename: string | undefined): Promise<SignedMirror | string> => {
  const sources = await readSources();
  if (sources.length === 0) return "this machine has no apt sources";
  const mirror = debianMirror(sources, codename);
  if (mirror === undefined) return "no apt source of this machine is a Debian mirror";
  for (const keyring of mirror.keyring === undefined ? ARCHIVE_KEYRINGS : [mirror.keyring]) {
    if ((await readText(keyring)) !== "") return { uri: mirror.uri, keyring };
  }
  return "this machine has no Debian archive keyring (package debian-archive-keyring)";
};

const readSources = async (): Promise<readonly AptSource[]> => {
  const directory = join(APT_DIRECTORY, "sources.list.d");
  const names = (await readdir(directory).catch(() => [])).sort();
  const paths = [join(APT_DIRECTORY, "sources.list"), ...names.map((name) => join(directory, name))];
  const parsed = await Promise.all(
    paths.map(async (path) => {
      if (path.endsWith(".sources")) return parseDeb822Sources(await readText(path));
      return path.endsWith(".list") ? parseOneLineSources(await readText(path)) : [];
    }),
  );
  return parsed.flat();
};

const readText = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

/** Options that make apt see one source and keep everything under `directory`. The machine's proxy settings still apply. */
const privateState = async (
  directory: string,
  mirror: SignedMirror,
  suite: string,
): Promise<readonly string[]> => {
  const list = join(directory, "sources.list");
  const status = join(directory, "status");
  await mkdir(join(directory, "state/lists/partial"), { recursive: true });
  await mkdir(join(directory, "cache/archives/partial"), { recursive: true });
  await writeFile(list, `deb [signed-by=${mirror.keyring}] ${mirror.uri} ${suite} main\n`);
  await writeFile(status, "");
  return [
    `Dir::Etc::sourcelist=${list}`,
    "Dir::Etc::sourceparts=/dev/null",
    `Dir::State=${join(directory, "state")}`,
    `Dir::State::status=${status}`,
    `Dir::Cache=${join(directory, "cache")}`,
    // As root, apt would download as user _apt, who cannot write here.
    "APT::Sandbox::User=",
    "Acquire::Languages=none",
    // Otherwise a list that cannot be downloaded is only a warning.
    "APT::Update::Error-Mode=any",
  ].flatMap((option) => ["-o", option]);
};
