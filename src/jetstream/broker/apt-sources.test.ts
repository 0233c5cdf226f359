import { expect, test } from "bun:test";
import { debianMirror, parseDeb822Sources, parseOneLineSources } from "./apt-sources.ts";

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

const DEB822 = `Types: deb
URIs: https://packages.example.net/node
Suites: nodistro
Components: main
Signed-By: /usr/share/keyrings/node.gpg

Types: deb
# https://mirror.example.org/snapshot
URIs: https://mirror.example.org/debian-security
Suites: bookworm-security
Components: main
Signed-By: ${KEYRING}

Types: deb deb-src
URIs: https://mirror.example.org/debian
Suites: bookworm bookworm-updates
Components: main
 contrib
Signed-By: ${KEYRING}
`;

test("the Debian mirror is found in the deb822 format, after security and foreign archives", () => {
  const mirror = debianMirror(parseDeb822Sources(DEB822), "bookworm");
  expect(mirror).toEqual({ uri: "https://mirror.example.org/debian", keyring: KEYRING });
});

test("the Debian mirror is found in the one-line format", () => {
  const text = `# deb https://old.example.org/debian bookworm main
deb cdrom:[Debian 12]/ bookworm main
deb [arch=amd64 signed-by=/etc/apt/keyrings/db.gpg] https://packages.example.net/debian bookworm main
deb-src https://mirror.example.org/debian bookworm main
deb https://mirror.example.org/debian bookworm main contrib # near
`;
  const mirror = debianMirror(parseOneLineSources(text), "bookworm");
  expect(mirror).toEqual({ uri: "https://mirror.example.org/debian", keyring: undefined });
  const signed = `deb [signed-by=${KEYRING}] http://mirror.example.org/debian stable main`;
  expect(debianMirror(parseOneLineSources(signed), "bookworm")?.keyring).toBe(KEYRING);
});

test("an archive that is not Debian's main archive is never used", () => {
  const others = [
    "deb https://mirror.example.org/debian bookworm contrib",
    "deb https://mirror.example.org/debian-security bookworm-security main",
    "deb [signed-by=/etc/apt/keyrings/other.gpg] https://packages.example.net/debian bookworm main",
    "deb https://packages.example.net/apt stable main",
    "deb https://mirror.example.org/ubuntu noble main",
    "deb file:/srv/packages bookworm main",
    "deb",
  ];
  expect(others.filter((line) => debianMirror(parseOneLineSources(line), "bookworm"))).toEqual([]);
  const disabled = DEB822.replaceAll("Types:", "Enabled: no\nTypes:");
  expect(debianMirror(parseDeb822Sources(disabled), "bookworm")).toBeUndefined();
});

test.each([
  ["no line begins with a slash", " mDMEXxyz/AB"],
  ["one line begins with a slash", " mDMEXxyz/AB\n /dDKLhYJKwYBBAHaRw8BAQdA"],
])("a key inside the source file is not mistaken for a path: %s", (_, key) => {
  const text = `Types: deb
URIs: https://mirror.example.org/debian
Suites: bookworm
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
${key}
 -----END PGP PUBLIC KEY BLOCK-----
`;
  const mirror = debianMirror(parseDeb822Sources(text), "bookworm");
  expect(mirror).toEqual({ uri: "https://mirror.example.org/debian", keyring: undefined });
});
