/** The version that is downloaded, is in the image and compose.yaml, and ran all tests and measurements. */
export const BROKER_VERSION = "2.15.1";

/** SHA-256 of its official release archives, by platform, as a public container build carries them. */
export const RELEASE_SHA256: Readonly<Record<string, string>> = {
  "linux-amd64": "bf5edc7b1ce98e885c368cb43a886eb148dc5d0551d99f3cf6141fb5e1954c70",
  "linux-arm64": "e2fbab4cad7d3c76e3052eb959570393c9d73ba756b70bf8e9eea61e9ae6d49c",
};

/** 2.12.0 brought atomic batches, 2.12.1 message ids inside them (NATS ADR-50). Older servers ignore the batch headers in silence. */
export const BROKER_VERSION_FLOOR = "2.12.1";

export const brokerVersionIn = (text: string): string | undefined =>
  /\bv?(\d{1,5}\.\d{1,5}\.\d{1,5})\b/.exec(text)?.[1];

export const compareBrokerVersions = (a: string, b: string): number =>
  a.localeCompare(b, "en", { numeric: true });

export const isSupportedBrokerVersion = (version: string): boolean =>
  compareBrokerVersions(version, BROKER_VERSION_FLOOR) >= 0;
