/** VERIFY.md: how to check a bundle with our verifier, and without it. */

export const verifyText = ({
  tenant,
  serviceName,
}: {
  readonly tenant: string;
  readonly serviceName: string;
}): string => `# How to verify this bundle

## With the verifier

One file, no network, no account, no trust in the server. Ask whoever sent the bundle for it, or make it from the repository of Prooftrail
(\`bun run build:verifier\`). Node 20.15 or newer, Bun or Deno run it:

    node prooftrail-verify.mjs --key log.key --tenant ${tenant} bundle.zip
    bun prooftrail-verify.mjs --key log.key --tenant ${tenant} bundle.zip
    deno run --allow-read prooftrail-verify.mjs --key log.key --tenant ${tenant} bundle.zip

It also takes the folder into which the bundle was unpacked, and a ZIP that another program made of these files: only their content counts.

\`log.key\` is the answer of \`GET /v1/log/key\` for the tenant ${tenant}, obtained through a channel that you trust: from an earlier visit, from a colleague, in print. Without
\`--key\` the key inside the bundle is used, and the verifier says so: then whoever made the bundle may have made the key.

\`--checkpoint file\` holds the bundle against a checkpoint that you have kept (\`GET /v1/log/checkpoint\`). Of another size, it needs
\`--consistency file\`, the answer of \`GET /v1/log/consistency?from=&to=\`.

It ends with 0 for valid, 1 for invalid, with the first broken record named, and 2 where it could not decide, such as where the ZIP is cut off.

## In a browser

Open \`verify.html\` of this bundle, or better one that you got elsewhere, such as \`/verify\` of a service that you trust, and give it the bundle and
\`log.key\`. It needs no network and sends nothing. Whoever made the bundle also made the page in it: what it says is worth as much as they are.

## What is in it

| file | what it is |
|---|---|
| \`records.ndjson\` | one record per line in the order of the log: its places in the tree (\`leaf_index\`, from 0) and in the log of all tenants (\`sequence\`), its exact bytes in base64 (\`leaf\`), the hashes up to the root, its sibling first (\`inclusion_proof\`). Of what the service no longer shows, the leaf's hash alone (\`leaf_hash\`) |
| \`events.ndjson\`, \`events.csv\` | the same records to read: events as they were sent |
| \`obligations.csv\` | obligations and their state when the bundle was made |
| \`checkpoint\`, \`key\` | the signed tree head (C2SP tlog-checkpoint) and the keys that verify it (C2SP signed-note) |
| \`summary.html\`, \`VERIFY.md\` | for people |
| \`verify.html\` | the verifier as a page, for a browser without a network |
| \`manifest.json\` | what was asked, and the SHA-256 of every file above, as it is (\`sha256\`) and as the service packed it (\`deflated_sha256\`, which means nothing in another ZIP) |
| \`manifest.tlog-proof\`, \`system-key\` | that making this bundle is an event in the log \`${serviceName}/prooftrail-system\`, which names the manifest's SHA-256 (C2SP tlog-proof) |

## Without the verifier

1. Unpack. Compare \`sha256sum\` of each file with \`manifest.json\`, which names all but itself, \`manifest.tlog-proof\` and \`system-key\`: what else is there does not
   belong to the bundle.
2. Check the signature on \`checkpoint\` with any tool for C2SP signed notes, such as golang.org/x/mod/sumdb/note, and your key.
   The origin, its first line, must be \`${serviceName}/${tenant}\`.
3. Of each line of \`records.ndjson\`: hash a zero byte and the decoded \`leaf\` with SHA-256 (RFC 9162 §2.1.1), and walk up with \`inclusion_proof\`
   (RFC 9162 §2.1.3.2) from \`leaf_index\` in a tree of the checkpoint's size to its root. A line with \`leaf_hash\` has that hash in base64 already. The lines of
   \`events.ndjson\` are the events of the others, one for one, each raw line break between values as a space.
4. Leaf indexes and sequences rise from line to line. Where \`complete_range\` is true there are as many lines as the checkpoint's size, and their leaf indexes are
   0, 1, 2 and so on: then every record is here.
5. \`manifest.tlog-proof\`: the base64 behind \`extra\` is a record; check it as a tlog-proof of the log \`${serviceName}/prooftrail-system\`, with the same
   public key: of the lines of \`system-key\` only those count whose part after the second \`+\` also occurs in your key. The record is an event
   \`system.evidence_made\`, and its \`manifest_sha256\` is that of \`manifest.json\`. Where its checkpoint has several signatures, each says all of it by itself
   (C2SP signed-note): one that somebody has left out takes nothing from the others.

## What it does not prove

That an event tells the truth; that everything was sent; of a bundle with a filter, that nothing else matches it. Tables, obligations and \`events.csv\` are what
the service worked out from the records: the anchored manifest says that they are as they were made.
`;
