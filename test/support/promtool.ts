/** promtool, which checks rules of Prometheus: PROMTOOL_BIN, or that of Debian's package, unpacked into the user's cache without root. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { openPrivateApt } from "../../src/jetstream/broker/private-apt.ts";

type Found =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "missing"; readonly reason: string };

export const findPromtool = async (): Promise<Found> => {
  const given = process.env.PROMTOOL_BIN ?? Bun.which("promtool");
  if (given) return { kind: "found", path: given };
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "prooftrail");
  const path = join(cache, "promtool");
  if (existsSync(path)) return { kind: "found", path };
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, ".promtool-"));
  try {
    const apt = await openPrivateApt({ directory, suite: undefined });
    if (apt.kind === "failed") return { kind: "missing", reason: apt.reason };
    const root = join(directory, "package");
    const failure = await apt.unpack(["prometheus"], root);
    if (failure !== undefined) return { kind: "missing", reason: failure };
    renameSync(join(root, "usr/bin/promtool"), path);
    return { kind: "found", path };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
