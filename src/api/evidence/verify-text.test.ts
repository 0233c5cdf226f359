import { expect, test } from "bun:test";
import { BUNDLE_FILES } from "../../proof/evidence/manifest.ts";
import { formatRecordLine } from "../../proof/evidence/record-line.ts";
import { EMPTY_ROOT } from "../../proof/rfc6962.ts";
import { verifyText } from "./verify-text.ts";

test("the instructions for checking a bundle by hand name every file in it and every member of its records", () => {
  const text = verifyText({ tenant: "acme", serviceName: "prooftrail" });
  const place = { leafIndex: 0, sequence: 1, inclusionProof: [] };
  const lines = [
    formatRecordLine({ ...place, leaf: { kind: "record", payload: Uint8Array.of(1) } }),
    formatRecordLine({ ...place, leaf: { kind: "hash", hash: EMPTY_ROOT } }),
  ];
  const named = [...BUNDLE_FILES, ...lines.flatMap((line) => Object.keys(JSON.parse(line)))];
  expect(named.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});
