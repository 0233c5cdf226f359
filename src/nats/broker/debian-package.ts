/**
 * Gets packages from the Debian archive without root: apt runs on a state directory of its own, with one of this machine's mirrors as its only
 * source. Only packages that Debian has signed are taken.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../runtime/error-text.ts";
import { CommandError, runCommand } from "./run-command.ts";

/** Debian 14: the first release with a nats-server above our floor. */
const SUITE = "forky";
/** The second is the name since Debian 13. */
const ARCHIVE_KEYRINGS = ["gpg", "pgp"].map((end) => `/usr/share/keyrings/debian-archive-keyring.${end}`);
const COMMAND_MS_MAX = 120_000;

/** Leaves nats-server in `directory`, which belongs to this call; its path. Takes 3 s (measured). Rejects with the reason. */
export const unpackDebianPackage = async (directory: string): Promise<string> => {
  const apt = await openPrivateApt(directory, SUITE);
  await apt.unpack(["nats-server"], join(directory, "package"));
  return join(directory, "package/usr/sbin/nats-server");
};

/** Rejects with the reason if no mirror of this machine has the suite. */
export const openPrivateApt = async (directory: string, suite?: string) => {
  const mirrors = await mirrorsOfMachine();
  const keyring = ARCHIVE_KEYRINGS.find((path) => existsSync(path));
  if (keyring === undefined)
    throw new Error("this machine has no Debian archive keyring (package debian-archive-keyring)");
  const options = await privateState(directory);
  const run: typeof runApt = (program, command) => runApt(program, [...options, ...command], directory);
  let failure = "no apt source of this machine is a Debian mirror";
  for (const { uri, release } of mirrors) {
    const source = `deb [signed-by=${keyring}] ${uri} ${suite ?? release} main\n`;
    await writeFile(join(directory, "sources.list"), source);
    try {
      await run("apt-get", ["update"]);
      return { ask: (command: readonly string[]) => run("apt-cache", command), unpack };
    } catch (error) {
      failure = `${uri}: ${messageOf(error)}`;
    }
  }
  throw new Error(failure);

  /** Puts the files of these packages under `root`, and runs nothing of theirs. */
  async function unpack(packages: readonly string[], root: string): Promise<void> {
    await run("apt-get", ["download", ...packages]);
    for (const name of await readdir(directory))
      if (name.endsWith(".deb")) await runApt("dpkg", ["-x", join(directory, name), root]);
  }
};

/** Those of the machine's apt sources that may be Debian's main archive; apt itself reads both formats of sources.list(5). */
const mirrorsOfMachine = async (): Promise<readonly { readonly uri: string; readonly release: string }[]> => {
  const format = ["--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"];
  const printed = await runApt("apt-get", ["--no-release-info", "indextargets", ...format]);
  return [...new Set(printed.split("\n"))].flatMap((line) => {
    const [, uri, release] = MAIN_ARCHIVE.exec(line) ?? [];
    return uri && release ? [{ uri, release }] : [];
  });
};

/** Neither cdrom: and file: nor a suite such as bookworm-security: they do not have the newer suite. */
const MAIN_ARCHIVE = /^((?:https?|mirror(?:\+https?)?|tor\+https?):\S+) ([a-z]+) main$/;

/** Options that make apt see one source and keep everything under `directory`. The machine's proxy settings still apply. */
const privateState = async (directory: string): Promise<readonly string[]> => {
  await mkdir(join(directory, "state/lists/partial"), { recursive: true });
  await mkdir(join(directory, "cache/archives/partial"), { recursive: true });
  await writeFile(join(directory, "status"), "");
  return [
    `Dir::Etc::sourcelist=${join(directory, "sources.list")}`,
    "Dir::Etc::sourceparts=/dev/null",
    `Dir::State=${join(directory, "state")}`,
    `Dir::State::status=${join(directory, "status")}`,
    `Dir::Cache=${join(directory, "cache")}`,
    // As root, apt would download as user _apt, who cannot write here.
    "APT::Sandbox::User=",
    "Acquire::Languages=none",
    // Otherwise a list that cannot be downloaded is only a warning.
    "APT::Update::Error-Mode=any",
  ].flatMap((option) => ["-o", option]);
};

const runApt = (program: string, command: readonly string[], directory?: string): Promise<string> =>
  runCommand(program, command, { directory, timeoutMs: COMMAND_MS_MAX }).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    throw new Error(error.isAbsent ? `this machine has no ${program}` : `${program}: ${error.message}`);
  });
