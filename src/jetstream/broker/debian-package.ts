/**
 * Gets nats-server from the Debian archive without root and without touching the machine's own package state: apt runs on a
 * state directory of its own. Signatures are checked as always. Measured: 3 s, 2.15.1 on a bookworm whose own is 2.9.10.
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
import type { ObtainAttempt } from "./download-release.ts";
import { type CommandOutcome, runCommand } from "./run-command.ts";

/** Debian 14: the first release with a nats-server above our floor. */
const SUITE = "forky";
const APT_DIRECTORY = "/etc/apt";
/** In this order: the second is the name since Debian 13. */
const ARCHIVE_KEYRINGS = [
  "/usr/share/keyrings/debian-archive-keyring.gpg",
  "/usr/share/keyrings/debian-archive-keyring.pgp",
];
const UPDATE_MS_MAX = 60_000;
const DOWNLOAD_MS_MAX = 60_000;
const UNPACK_MS_MAX = 30_000;

/** Leaves the program in `directory`, which belongs to this call. */
export const unpackDebianPackage = async (directory: string): Promise<ObtainAttempt> => {
  const mirror = await findMirror();
  if (typeof mirror === "string") return { kind: "failed", reason: mirror };
  const options = await privateAptState(directory, mirror);
  const apt = (command: readonly string[], timeoutMs: number): Promise<CommandOutcome> =>
    runCommand("apt-get", [...options, ...command], { directory, timeoutMs });

  const updated = await apt(["update"], UPDATE_MS_MAX);
  if (updated.kind === "failed") return { kind: "failed", reason: `apt-get update: ${updated.reason}` };
  const downloaded = await apt(["download", "nats-server"], DOWNLOAD_MS_MAX);
  if (downloaded.kind === "failed")
    return { kind: "failed", reason: `apt-get download: ${downloaded.reason}` };
  const file = (await readdir(directory)).find((name) => name.endsWith(".deb"));
  if (file === undefined) return { kind: "failed", reason: "apt-get download left no package" };
  const root = join(directory, "package");
  const unpacked = await runCommand("dpkg", ["-x", join(directory, file), root], {
    timeoutMs: UNPACK_MS_MAX,
  });
  if (unpacked.kind === "failed") return { kind: "failed", reason: `dpkg -x: ${unpacked.reason}` };
  return { kind: "obtained", binary: join(root, "usr/sbin/nats-server") };
};

type SignedMirror = DebianMirror & { readonly keyring: string };

/** The mirror with a keyring, or why there is none. */
const findMirror = async (): Promise<SignedMirror | string> => {
  const sources = await readSources();
  if (sources.length === 0) return "this machine has no apt sources";
  const codename = /^VERSION_CODENAME="?([a-z]+)/m.exec(await readText("/etc/os-release"))?.[1];
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
const privateAptState = async (directory: string, mirror: SignedMirror): Promise<readonly string[]> => {
  const list = join(directory, "sources.list");
  const status = join(directory, "status");
  await mkdir(join(directory, "state/lists/partial"), { recursive: true });
  await mkdir(join(directory, "cache/archives/partial"), { recursive: true });
  await writeFile(list, `deb [signed-by=${mirror.keyring}] ${mirror.uri} ${SUITE} main\n`);
  await writeFile(status, "");
  return [
    `Dir::Etc::sourcelist=${list}`,
    "Dir::Etc::sourceparts=/dev/null",
    `Dir::State=${join(directory, "state")}`,
    `Dir::State::status=${status}`,
    `Dir::Cache=${join(directory, "cache")}`,
    // As root apt would download as user _apt, who cannot write here.
    "APT::Sandbox::User=",
    "Acquire::Languages=none",
    // A list that could not be had is otherwise only a warning.
    "APT::Update::Error-Mode=any",
  ].flatMap((option) => ["-o", option]);
};
