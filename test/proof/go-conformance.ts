/**
 * Holds src/proof against an implementation that is not ours: Go's golang.org/x/mod/sumdb, as Debian packages it.
 *
 *   bun test/proof/go-conformance.ts [--seed 7]
 *
 * 1. Go and the module are fetched without root into the user's cache, once (81 MB, 500 MB unpacked).
 * 2. Cases are made by our modules: signed checkpoints, inclusion and consistency proofs, tiles; and from each of them broken ones.
 * 3. Our verifiers judge them; then go/verify.go does, builds the same tree itself and compares roots, proofs, tiles and signatures.
 *
 * Not part of the suite, because it needs the network.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { debianProgram } from "../support/debian-program.ts";
import { createCases } from "./go-cases.ts";

/** Of Debian 13 and 12. */
const RELEASES = ["1.24", "1.19"];

const obtainGo = async () => {
  const reasons: string[] = [];
  for (const release of RELEASES) {
    const go = `golang-${release}`;
    const packages = [`${go}-go`, `${go}-src`, "golang-golang-x-mod-dev"] as const;
    const found = await debianProgram([...packages], `usr/lib/go-${release}/bin/go`);
    if (found.kind === "found") return found.path;
    reasons.push(found.reason);
  }
  throw new Error(reasons.join("\n"));
};

const { values } = parseArgs({ options: { seed: { type: "string" } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const go = await obtainGo();
const work = await mkdtemp(join(tmpdir(), "prooftrail-go-"));
const env = {
  PATH: process.env.PATH ?? "",
  GOROOT: resolve(go, "../.."),
  // Debian puts the sources of modules where Go looked for them before modules existed.
  GOPATH: resolve(go, "../../../../share/gocode"),
  ...{ GO111MODULE: "off", GOTOOLCHAIN: "local", GOFLAGS: "", CGO_ENABLED: "0" },
  GOCACHE: join(work, "build-cache"),
};
const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { env, encoding: "utf8" });
try {
  const [cases, program] = [join(work, "cases.json"), join(work, "verify")];
  await writeFile(cases, JSON.stringify(createCases(seed)));
  process.stdout.write(`${run(go, ["version"]).trim()}, seed ${seed}\n`);
  run(go, ["build", "-o", program, join(import.meta.dirname, "go/verify.go")]);
  process.stdout.write(run(program, [cases]));
} finally {
  await rm(work, { recursive: true, force: true });
}
