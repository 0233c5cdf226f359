/** The table of the keys of `metadata` has every key that the code reads: a key that is missing there would be called a misspelling of another. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { METADATA_KEYS, METADATA_NAMES } from "../src/event/metadata-keys.ts";

const root = join(import.meta.dir, "../src");
const sources = ["event", "law", "views"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => readFileSync(join(root, folder, name), "utf8")),
);

/** Names that stand as literals where metadata is read, and those of the tables that name keys. */
const READ = [
  /\b(?:metadataText|metadataTexts|metadataName|metadataJson|metadataChecklist|keptText|said)\(([^()]*)\)/g,
  /\bmetadata\.([a-z_]+)\b/g,
  /\bconst (?:SAID|DESCRIBED|FORMS|CLAUSE_NAMES|MODEL_NAMES|DECISION_NAMES|SUBJECT_HASH_IN_METADATA)\b[^=]*= ([^;]*);/g,
];
const LITERAL = /"([a-z][a-z_.]*)"/g;
/** Literals that are no keys: event types and examples in the table of forms, a type, a member of a value, a fact. */
const NO_KEY =
  /\.(?!conversation|response|request)|^(?:ai_basic_law_kr|number|occurred|decision|objection|incident|assessment|contact|detected)$/;

test("every key of metadata that the code reads is in the table", () => {
  const read = sources.flatMap((source) =>
    READ.flatMap((pattern) =>
      [...source.matchAll(pattern)].flatMap(([, found = ""]) =>
        /^[a-z_]+$/.test(found) ? [found] : [...found.matchAll(LITERAL)].map(([, name]) => name ?? ""),
      ),
    ),
  );
  expect(read.length).toBeGreaterThan(80);
  const missing = [...new Set(read)].filter((name) => !(METADATA_NAMES.has(name) || NO_KEY.test(name)));
  expect(missing).toEqual([]);
});

test("no key has two meanings in the table", () => {
  const names = METADATA_KEYS.flatMap(({ name, also = [] }) => [name, ...also]);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
