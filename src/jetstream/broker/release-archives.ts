/** The official nats-server release archives that we may download, pinned. Elsewhere nats-server has to be installed. */
import { BROKER_VERSION } from "./version.ts";

/** As a public container build carries them. An archive with another digest is not unpacked. */
const SHA256: Readonly<Record<string, string>> = {
  "linux-amd64": "bf5edc7b1ce98e885c368cb43a886eb148dc5d0551d99f3cf6141fb5e1954c70",
  "linux-arm64": "e2fbab4cad7d3c76e3052eb959570393c9d73ba756b70bf8e9eea61e9ae6d49c",
};

/** Node's names of processors → Go's. */
const GO_ARCHITECTURE: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

export interface ReleaseArchive {
  readonly url: string;
  readonly sha256: string;
  /** Path of the program inside the archive. */
  readonly entry: string;
}

/** undefined: no archive is pinned for this kind of machine. */
export const releaseArchive = (machine: {
  readonly platform: string;
  readonly arch: string;
}): ReleaseArchive | undefined => {
  const target = `${machine.platform}-${GO_ARCHITECTURE[machine.arch] ?? machine.arch}`;
  const sha256 = SHA256[target];
  if (sha256 === undefined) return undefined;
  const name = `nats-server-v${BROKER_VERSION}-${target}`;
  const url = `https://github.com/nats-io/nats-server/releases/download/v${BROKER_VERSION}/${name}.tar.gz`;
  return { url, sha256, entry: `${name}/nats-server` };
};
