/** Gets nats-server from the Debian archive, without root (private-apt.ts). Takes 3 s (measured). */
import { join } from "node:path";
import type { ObtainAttempt } from "./download-release.ts";
import { openPrivateApt } from "./private-apt.ts";

/** Debian 14: the first release with a nats-server above our floor. */
const SUITE = "forky";

/** Leaves the program in `directory`, which belongs to this call. */
export const unpackDebianPackage = async (directory: string): Promise<ObtainAttempt> => {
  const apt = await openPrivateApt({ directory, suite: SUITE });
  if (apt.kind === "failed") return apt;
  const root = join(directory, "package");
  const failure = await apt.unpack(["nats-server"], root);
  if (failure !== undefined) return { kind: "failed", reason: failure };
  return { kind: "obtained", binary: join(root, "usr/sbin/nats-server") };
};
