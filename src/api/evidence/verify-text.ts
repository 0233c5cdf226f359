/** VERIFY.md: how to check a bundle with our verifier, and without it. */

export const verifyText = ({
  tenant,
  serviceName,
}: {
  readonly tenant: string;
  readonly serviceName: string;
}): string => `# How to verify this bundle

## With the verifier

One file, no network, no account, no trust in the server. Ask whoever sent the bundle for it, or build it from the Prooftrail repository
(\`bun run build:verifier\`). Node 20.15 or newer, Bun or Deno run it:

    node prooftrail-verify.mjs --key log.key --tenant ${tenant} bundle.zip
    bun prooftrail-verify.mjs --key log.key --tenant ${tenant} bundle.zip
    deno run --allow-read prooftrail-verify.mjs --key log.key --tenant ${tenant} bundle.zip

It also takes the folder of an unpacked bundle, or a ZIP that another program made of these files: only their content counts.

\`log.key\` is the answer of \`GET /v1/log/key\` for the tenant ${tenant}, obtained through a channel that you trust: from an earlier visit, from a colleague, in print. Without
\`--key\` it uses the key inside the bundle and says so: whoever made the bundle may have made that key.

\`--checkpoint file\` compares the bundle with a checkpoint that you kept (\`GET /v1/log/checkpoint\`). For another size, add
\`--consistency file\`, the answer of \`GET /v1/log/consistency?from=&to=\`.

It exits with 0 for valid, 1 for invalid, naming the first broken record, and 2 if it could not decide, for example if the ZIP is cut off.

## In a browser

Open \`verify.html\` of this bundle, or better one from elsewhere, such as \`/verify\` of a service that you trust, and give it the bundle and
\`log.key\`. It needs no network and sends nothing. Whoever made the bundle also made its page: trust the page as much as them.

## What is in it

| file | what it is |
|---|---|
| \`records.ndjson\` | one record per line in the order of the log: its places in the tree (\`leaf_index\`, from 0) and in the log of all tenants (\`sequence\`), its exact bytes in base64 (\`leaf\`), the hashes up to the root, its sibling first (\`inclusion_proof\`). For what the service no longer shows, only the leaf's hash (\`leaf_hash\`) |
| \`events.ndjson\`, \`events.csv\` | the same records, readable: events as sent |
| \`obligations.csv\` | obligations and their state at creation |
| \`checkpoint\`, \`key\` | the signed tree head (C2SP tlog-checkpoint) and the keys that verify it (C2SP signed-note) |
| \`summary.html\`, \`VERIFY.md\` | for people |
| \`verify.html\` | the verifier as a page, for a browser without a network |
| \`manifest.json\` | the request, and the SHA-256 of every file above, as is (\`sha256\`) and as the service packed it (\`deflated_sha256\`, meaningless in another ZIP) |
| \`manifest.tlog-proof\`, \`system-key\` | proof that creating this bundle is an event in the log \`${serviceName}/prooftrail-system\`, which names the manifest's SHA-256 (C2SP tlog-proof) |

## Without the verifier

1. Unpack. Compare \`sha256sum\` of each file with \`manifest.json\`, which names all but itself, \`manifest.tlog-proof\` and \`system-key\`: any other file does not
   belong to the bundle.
2. Check the signature on \`checkpoint\` with any tool for C2SP signed notes, such as golang.org/x/mod/sumdb/note, and your key.
   The origin, its first line, must be \`${serviceName}/${tenant}\`.
3. For each line of \`records.ndjson\`: hash a zero byte and the decoded \`leaf\` with SHA-256 (RFC 9162 §2.1.1), and walk up with \`inclusion_proof\`
   (RFC 9162 §2.1.3.2) from \`leaf_index\` in a tree of the checkpoint's size to its root. A line with \`leaf_hash\` has that hash in base64 already. The lines of
   \`events.ndjson\` are the events of the others, one for one, each raw line break between values as a space.
4. Leaf indexes and sequences rise from line to line. If \`complete_range\` is true there are as many lines as the checkpoint's size, with leaf indexes
   0, 1, 2 and so on: then every record is here.
5. \`manifest.tlog-proof\`: the base64 behind \`extra\` is a record; check it as a tlog-proof of the log \`${serviceName}/prooftrail-system\`, with the same
   public key: only those lines of \`system-key\` count whose part after the second \`+\` is also in your key. The record is an event
   \`system.evidence_made\`, and its \`manifest_sha256\` is that of \`manifest.json\`. If its checkpoint has several signatures, each suffices
   (C2SP signed-note): removing one does not weaken the others.

## What it does not prove

That an event tells the truth; that everything was sent; of a bundle with a filter, that nothing else matches it. Tables, obligations and \`events.csv\` are what
the service computed from the records: the anchored manifest proves that they are unchanged.
`;
