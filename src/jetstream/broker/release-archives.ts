/** The official nats-server release archives that we may download, pinned. Linux and macOS: the shim needs a POSIX shell. */

/**
 * With the fixes of the security advisories up to 2.14.3. The digests are those of the release's SHA256SUMS,
 * as the project's container images and other build systems carry them.
 */
const VERSION = "2.14.3";

const SHA256: Readonly<Record<string, string>> = {
  "linux-amd64": "f3d0c820c749f81d717310fb00d4903919e70e3e66b268bd352a088b9788eb93",
  "linux-arm64": "1759b6a0ddebade9471b7c02891dfaa8c73b526c6f3ce391d4e21ec3eceffab8",
  "darwin-amd64": "effa518fe623433d7c3321991db419bb1e00aa9b19ae761b559b580434afc3ab",
  "darwin-arm64": "e086395457a7a93a440433a446c9f161f917d35c0374640555123e8d8d4b7fe9",
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
  const name = `nats-server-v${VERSION}-${target}`;
  const url = `https://github.com/nats-io/nats-server/releases/download/v${VERSION}/${name}.tar.gz`;
  return { url, sha256, entry: `${name}/nats-server` };
};
