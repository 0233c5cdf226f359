/**
 * Reads apt's lists of package sources, both formats of sources.list(5), to learn which Debian mirror this machine uses. Only that mirror
 * is asked: its owner chose it, and in a closed network it is the only one.
 */

export interface AptSource {
  readonly types: readonly string[];
  readonly uris: readonly string[];
  readonly suites: readonly string[];
  readonly components: readonly string[];
  /** Path of a keyring. Undefined for apt's own keyrings, or a key inside the file itself. */
  readonly keyring: string | undefined;
}

/** One `deb [options] uri suite component…` per line, as in /etc/apt/sources.list. */
export const parseOneLineSources = (text: string): readonly AptSource[] =>
  text.split("\n").flatMap((line) => {
    const match = /^\s*(deb|deb-src)\s+(?:\[([^\]]*)\]\s*)?([^#]*)/.exec(line);
    if (match === null) return [];
    const [, type = "", options = "", rest = ""] = match;
    const [uri, suite, ...components] = rest.trim().split(/\s+/);
    if (!uri || !suite) return [];
    const keyring = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1];
    return [{ types: [type], uris: [uri], suites: [suite], components, keyring: keyringPath(keyring) }];
  });

/** Paragraphs of `Name: value` (deb822), as in /etc/apt/sources.list.d/debian.sources. */
export const parseDeb822Sources = (text: string): readonly AptSource[] => {
  const lines = text.split("\n").filter((line) => !line.startsWith("#"));
  return lines
    .join("\n")
    .split(/\n[ \t]*\n/)
    .map(parseParagraph)
    .filter((fields) => fields.get("enabled")?.toLowerCase() !== "no")
    .map((fields) => ({
      types: words(fields.get("types")),
      uris: words(fields.get("uris")),
      suites: words(fields.get("suites")),
      components: words(fields.get("components")),
      keyring: keyringPath(fields.get("signed-by")),
    }));
};

export interface DebianMirror {
  readonly uri: string;
  /** Undefined if the source names none: the machine's Debian archive keyring applies. */
  readonly keyring: string | undefined;
}

/**
 * The machine's mirror of Debian's main archive. Other repositories name Debian's suites too, so a source counts only when
 * it is signed by the Debian archive keyring, or names no keyring and has this machine's codename as a suite.
 */
export const debianMirror = (
  sources: readonly AptSource[],
  codename: string | undefined,
): DebianMirror | undefined => {
  for (const source of sources) {
    const uri = source.uris.find((candidate) => FETCHABLE_URI.test(candidate));
    if (uri === undefined || !source.types.includes("deb") || !source.components.includes("main")) continue;
    const isDebianSigned = source.keyring !== undefined && DEBIAN_KEYRING.test(source.keyring);
    const suites = source.keyring === undefined ? [codename] : [codename, ...ROLLING_SUITES];
    if (source.keyring !== undefined && !isDebianSigned) continue;
    if (source.suites.some((suite) => suites.includes(suite))) return { uri, keyring: source.keyring };
  }
  return undefined;
};

// Not cdrom: or file:, which do not have the newer suite.
const FETCHABLE_URI = /^(https?|mirror(\+https?)?|tor\+https?):/;
const DEBIAN_KEYRING = /\/debian-archive-[^/]*$/;
// Without security and updates: those archives do not have every suite.
const ROLLING_SUITES = ["oldstable", "stable", "testing", "unstable", "sid", "forky"];

/** Field name in lower case → value; a continued value keeps its lines. */
const parseParagraph = (paragraph: string): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>();
  let name = "";
  for (const line of paragraph.split("\n")) {
    const match = /^([A-Za-z][A-Za-z0-9-]*):(.*)$/.exec(line);
    if (match !== null) name = (match[1] ?? "").toLowerCase();
    const value = match === null ? line : (match[2] ?? "");
    if (name !== "") fields.set(name, `${fields.get(name) ?? ""}\n${value}`.trim());
  }
  return fields;
};

const words = (value: string | undefined): readonly string[] =>
  value?.split(/\s+/).filter((word) => word !== "") ?? [];

/** A key inside the file is base64, whose lines may begin with a slash too. */
const keyringPath = (value: string | undefined): string | undefined =>
  value?.includes("-----BEGIN PGP")
    ? undefined
    : words(value?.replaceAll(",", " ")).find((word) => word.startsWith("/"));
