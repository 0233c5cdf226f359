/**
 * Holds src/proof against an implementation that is not ours: Go's golang.org/x/mod/sumdb, as Debian packages it.
 *
 *   bun test/proof/go-conformance.ts [--seed 7]
 *
 * 1. Go and the module are fetched without root into the user's cache, once (debian-package.ts; 81 MB, 500 MB unpacked).
 * 2. Cases are made by our modules: signed checkpoints, inclusion and consistency proofs, tiles; and from each of them broken ones.
 * 3. Our verifiers judge them; then go/verify.go does, builds the same tree itself and compares roots, proofs, tiles and signatures.
 *
 * Not part of the suite, because it needs the network.
 */

import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openPrivateApt } from "../../src/nats/broker/debian-package.ts";
import { createCases } from "./go-cases.ts";

const MODULE_PACKAGE = "golang-golang-x-mod-dev";

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: { seed: { type: "string" } } });
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  const go = await obtainGo();
  const work = await mkdtemp(join(tmpdir(), "prooftrail-go-"));
  try {
    const cases = join(work, "cases.json");
    await writeFile(cases, JSON.stringify(createCases(seed)));
    const program = join(work, "verify");
    const run = (file: string, parameters: readonly string[]): string =>
      execFileSync(file, parameters, { env: go.environment, encoding: "utf8" });
    print(`${run(go.binary, ["version"]).trim()}, seed ${seed}\n`);
    run(go.binary, ["build", "-o", program, join(import.meta.dirname, "go/verify.go")]);
    print(run(program, [cases]));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
};

interface Go {
  readonly binary: string;
  readonly environment: Record<string, string>;
}

const obtainGo = async (): Promise<Go> => {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "prooftrail");
  const home = join(cache, "go-conformance");
  if (!existsSync(home)) await unpackGo(cache, home);
  const release = (await readdir(join(home, "usr/lib"))).find((name) => name.startsWith("go-1."));
  assert(release !== undefined, `there is no Go in ${home}`);
  const root = join(home, "usr/lib", release);
  const environment = {
    PATH: process.env.PATH ?? "",
    GOROOT: root,
    // Debian puts the sources of modules where Go looked for them before modules existed.
    GOPATH: join(home, "usr/share/gocode"),
    GO111MODULE: "off",
    GOTOOLCHAIN: "local",
    GOFLAGS: "",
    GOCACHE: join(home, "build-cache"),
    CGO_ENABLED: "0",
  };
  return { binary: join(root, "bin/go"), environment };
};

/** Unpacks beside its place and renames, so that an interrupted fetch leaves nothing that looks complete. */
const unpackGo = async (cache: string, home: string): Promise<void> => {
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, ".obtaining-"));
  try {
    const apt = await openPrivateApt({ directory, suite: undefined });
    // golang-go is a name for whichever release the suite has.
    const depends = await apt.ask(["depends", "golang-go"]);
    const compiler = /Depends: (golang-1\.\d+)-go$/m.exec(depends)?.[1];
    assert(compiler !== undefined, "golang-go depends on no release of Go");
    const packages = [`${compiler}-go`, `${compiler}-src`, MODULE_PACKAGE];
    print(`getting ${packages.join(", ")}\n`);
    await apt.unpack(packages, join(directory, "root"));
    await rename(join(directory, "root"), home);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

const print = (text: string): void => {
  process.stdout.write(text);
};

await main();
