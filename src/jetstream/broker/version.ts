/** Versions of nats-server, as its `--version` and its INFO line tell them (semver.org 2.0.0, without build metadata). */

export interface BrokerVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** `RC.1` in `2.12.1-RC.1`; empty in a release. */
  readonly preRelease: string;
}

/**
 * The one that is downloaded, that the image and compose.yaml have, that the tests run on, and that every measurement in code and documents is of.
 */
export const BROKER_VERSION = "2.15.1";

/**
 * The oldest broker that Prooftrail works with. 2.12.0 brought atomic batches, 2.12.1 message ids inside them
 * (NATS ADR-50). Older servers accept the batch headers in silence and store the messages one by one.
 */
export const BROKER_VERSION_FLOOR: BrokerVersion = { major: 2, minor: 12, patch: 1, preRelease: "" };

const VERSION = /\bv?(\d{1,5})\.(\d{1,5})\.(\d{1,5})(?:-([0-9A-Za-z.-]+))?/;

/** The version in a text such as `nats-server: v2.15.1` or `2.15.1`. */
export const parseBrokerVersion = (text: string): BrokerVersion | undefined => {
  const [, major, minor, patch, preRelease = ""] = VERSION.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), preRelease };
};

/** Negative when `a` is older, 0 when equal, positive when newer. */
export const compareBrokerVersions = (a: BrokerVersion, b: BrokerVersion): number =>
  a.major - b.major ||
  a.minor - b.minor ||
  a.patch - b.patch ||
  comparePreReleases(a.preRelease, b.preRelease);

export const isSupportedBrokerVersion = (version: BrokerVersion): boolean =>
  compareBrokerVersions(version, BROKER_VERSION_FLOOR) >= 0;

export const formatBrokerVersion = (version: BrokerVersion): string => {
  const numbers = `${version.major}.${version.minor}.${version.patch}`;
  return version.preRelease === "" ? numbers : `${numbers}-${version.preRelease}`;
};

/** A release comes after all its candidates. */
const comparePreReleases = (a: string, b: string): number => {
  if (a === b) return 0;
  if (a === "") return 1;
  if (b === "") return -1;
  return a.localeCompare(b, "en", { numeric: true });
};
