/** The verifier's report for people: as text here, and row by row for the page. */
import { printable } from "../../runtime/printable.ts";
import { wrappedLines } from "../../runtime/text-width.ts";
import type { EvidenceFacts, Finding, Verdict } from "../evidence/verdict.ts";
import type { ProofFacts, ProofVerdict } from "../evidence/verify-proof.ts";

/** The width even if the output is no terminal, so that a report looks the same wherever it is kept. */
const COLUMNS = 80;

/** Wraps at 80 columns and indents all lines after the first. Text without a space, such as a key, is not broken. */
const folded = (text: string, indent: number): string =>
  wrappedLines(text, COLUMNS - indent).join(`\n${" ".repeat(indent)}`);

export const HELP = `Usage: prooftrail-verify [options] <bundle.zip | folder | proof>

Verifies an evidence bundle, packed or unpacked, or the proof of an event, and names the first
broken record. Needs no network.

  --key <file>          verifier keys (GET /v1/log/key) from a source that you trust;
                        without it the keys in the bundle are used, which proves less
  --tenant <name>       the expected tenant
  --checkpoint <file>   a checkpoint of the same log that you hold (GET /v1/log/checkpoint)
  --consistency <file>  the answer of GET /v1/log/consistency between that one and the bundle's
  --json                the verdict as one line of JSON; errors as JSON on standard error
  --help                this text

Exit codes: 0 valid, 1 invalid, 2 not decided: wrong use, unreadable files, or more is needed.
`;

export const reportText = (bundle: string, verdict: Verdict | ProofVerdict): string => {
  const path = printable(bundle);
  if (verdict.kind === "undecided")
    return `NOT DECIDED  ${path}\n\n${folded(printable(verdict.detail), 0)}\n`;
  if (verdict.kind === "invalid")
    return `INVALID  ${path}\n\n${folded(printable(findingText(verdict.finding)), 0)}\n`;
  const { facts } = verdict;
  return `VALID  ${path}\n\n${"anchor" in facts ? validText(facts) : tableText(proofRows(facts))}`;
};

/** For programs, with the member names of the API. No member name comes from the bundle. */
export const reportJson = (verdict: Verdict | ProofVerdict): string => JSON.stringify(inSnakeCase(verdict));

const inSnakeCase = (value: unknown): unknown => {
  if (Array.isArray(value) || typeof value !== "object" || value === null) return value;
  const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [snakeCase(name), inSnakeCase(member)]),
  );
};

/** What a valid bundle shows, row by row. */
export const factRows = (facts: EvidenceFacts): readonly (readonly [name: string, value: string])[] => {
  const { records, withheld, checkpoint_size: size } = facts;
  return [
    ["tenant", facts.tenant],
    ["about", aboutText(facts)],
    ["period", `${facts.from ?? "the beginning"} to ${facts.to ?? "the end"}`],
    [
      "records",
      `${records}${withheld > 0 ? `, ${withheld} of them by hash only (expired, or not understood by the service)` : ""}; ${
        facts.isComplete
          ? "complete: every record of the log up to the checkpoint"
          : "chosen by a filter: not proven to be all that match"
      }`,
    ],
    ["log", facts.origin],
    ["checkpoint", `${size} ${size === 1 ? "record" : "records"}, root ${facts.checkpoint_root}`],
    ["signed by", facts.keys.map(shortKey).join(", ")],
    ["made", `${facts.generated_at} for the API key ${facts.made_by}`],
    ["anchored", `${facts.anchor.at}, leaf ${facts.anchor.leafIndex} of ${facts.anchor.origin}`],
    ["your checkpoint", HELD[facts.heldCheckpoint]],
  ];
};

/** What the proof of an event shows, row by row. */
export const proofRows = (facts: ProofFacts): ReturnType<typeof factRows> => [
  ["tenant", facts.tenant],
  ["event", facts.eventId],
  ["received", facts.receivedAt],
  ["record", `leaf ${facts.leafIndex}, hash ${facts.leafHash}`],
  ["log", facts.origin],
  ["checkpoint", `${facts.checkpointSize} records, root ${facts.checkpointRoot}`],
  ["signed by", facts.keys.map(shortKey).join(", ")],
  ["receipt", facts.receipt === "same" ? "matches this record" : "not given"],
];

/** Name and key id. */
export const shortKey = (key: string): string => key.split("+").slice(0, 2).join("+");

export const NOT_PINNED = "The key is not pinned: it came from the bundle itself.";

const tableText = (rows: ReturnType<typeof factRows>): string => {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows
    .map(([name, value]) => `  ${name.padEnd(width)}${folded(printable(value), width + 2)}\n`)
    .join("");
};

const validText = (facts: EvidenceFacts): string => {
  const pinned = facts.isKeyPinned
    ? ""
    : `\n${folded(`${NOT_PINNED} Compare each line with GET /v1/log/key, or give that with --key:`, 0)}\n${facts.keys
        .map((key) => `  ${printable(key)}\n`)
        .join("")}`;
  const notes = facts.notes.map((note) => `\n${folded(`Note: ${printable(note)}`, 0)}\n`).join("");
  return tableText(factRows(facts)) + pinned + notes;
};

const HELD = {
  none: "not given",
  same: "same as the bundle's",
  consistent: "fits: the newer tree extends the older",
} as const;

const aboutText = (facts: EvidenceFacts): string => {
  const parts = Object.entries({
    person: facts.subject_hash,
    decision: facts.decision_id,
    case: facts.correlation_id,
    "AI system": facts.asset_id,
    "AI systems": facts.asset_ids?.join(", "),
  }).flatMap(([name, value]) => ((value ?? null) === null ? [] : `${name} ${value}`));
  return parts.length === 0 ? "the whole tenant" : parts.join("; ");
};

/** Where and why it is broken. */
export const findingText = ({ code, detail, ...place }: Finding): string => {
  const { file, line, leafIndex, sequence, eventId } = place;
  const where = [
    file,
    line === undefined ? undefined : `line ${line}`,
    leafIndex === undefined ? undefined : `leaf ${leafIndex}`,
    sequence === undefined ? undefined : `sequence ${sequence}`,
    eventId,
  ].filter((part) => part !== undefined);
  return `${where.length === 0 ? "" : `${where.join(", ")}: `}${detail} (${code})`;
};
