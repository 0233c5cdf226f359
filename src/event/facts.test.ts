import { expect, test } from "bun:test";
import fc from "fast-check";
import { IDENTIFIER_CHARACTERS_MAX, KEPT_TEXT_CHARACTERS_MAX, METADATA_LEGAL_BASES_MAX } from "../limits.ts";
import { eventFacts, hashMember, metadataName, metadataText, readEvent, shortened } from "./facts.ts";

const minimal = {
  event_id: "evt_1",
  timestamp: "2026-11-20T10:00:00.120Z",
  asset_id: "credit_model",
  event_type: "decision.automated_decision_made",
};
const nothingElse = {
  riskTier: null,
  legalBases: [],
  correlationId: null,
  decisionId: null,
  subjectHash: null,
  outcomeHash: null,
  traceId: null,
  assetVersion: null,
  tags: [],
  metadata: {},
};
const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;

const laws = (count: number) => Array.from({ length: count }, (_, index) => `law_${index}`);

const [UPPER, LOWER] = ["0198C0DE-1111-7111-8111-11111111111A", "0198c0de-1111-7111-8111-11111111111a"];
const conversation = { "gen_ai.conversation.id": "conv_1" };
const many = laws(METADATA_LEGAL_BASES_MAX);

test.each<[metadata: object, event: object, facts: object]>([
  [{}, { event_id: UPPER }, { eventId: LOWER }],
  [{}, { subject_hash: hash("A") }, { subjectHash: hash("a") }],
  [{ user_id_hash: hash("1"), recipient_hash: hash("2") }, {}, { subjectHash: hash("1") }],
  [{ recipient_hash: hash("2") }, {}, { subjectHash: hash("2") }],
  [{ user_id_hash: hash("1") }, { subject_hash: hash("2") }, { subjectHash: hash("2") }],
  [conversation, {}, { correlationId: "conv_1" }],
  [conversation, { correlation_id: "case_1" }, { correlationId: "case_1" }],
  [{ legal_bases: ["other"] }, { legal_bases: ["own"] }, { legalBases: ["own"] }],
  // Typed clients send an empty list by default.
  [{ legal_bases: ["other"] }, { legal_bases: [] }, { legalBases: ["other"] }],
  [{ legal_bases: [...many, "one_more"] }, {}, { legalBases: many }],
  [{ legal_bases: ["a", "b", "a", 5, null, "Not A Name", "x".repeat(65)] }, {}, { legalBases: ["a", "b"] }],
])("with %j in metadata and %j beside it, the facts are %j", (metadata, event, facts) =>
  expect(eventFacts({ ...minimal, ...event, metadata })).toMatchObject(facts),
);

test("a number is a name if it was read exactly, and a text too long for an identifier is no name", () => {
  expect([7, -0.5, Number.MAX_SAFE_INTEGER].map((id) => metadataText({ id }, "id"))).toEqual([
    "7",
    "-0.5",
    "9007199254740991",
  ]);
  expect(metadataText({ id: 1e20 }, "id")).toBeUndefined();
  for (const beyond of ["1e400", "-1e500"])
    expect(metadataText({ id: JSON.parse(beyond) }, "id")).toBeUndefined();
  expect(metadataText({ id: 2 ** 53, other: "x" }, "id", "other")).toBe("x");
  const longest = "x".repeat(IDENTIFIER_CHARACTERS_MAX);
  expect(metadataName({ id: longest }, "id")).toBe(longest);
  expect(metadataName({ id: `${longest}x` }, "id")).toBeUndefined();
});

test("an event with only the required members has no other facts", () => {
  expect(eventFacts(minimal)).toEqual({
    eventId: "evt_1",
    eventType: "decision.automated_decision_made",
    assetId: "credit_model",
    occurred: "2026-11-20T10:00:00.12",
    ...nothingElse,
  });
});

test("an event that lacks a required member has no facts", () => {
  for (const name of Object.keys(minimal)) {
    for (const wrong of [undefined, null, 1, {}, ["x"]]) {
      expect(eventFacts({ ...minimal, [name]: wrong })).toBeUndefined();
    }
  }
  expect(eventFacts({ ...minimal, timestamp: "yesterday" })).toBeUndefined();
});

test("tags of every type become texts", () => {
  const tags = { text: "", number: 1.5, big: 1e21, yes: true, no: false };
  expect(eventFacts({ ...minimal, tags })?.tags).toEqual([
    { key: "text", value: "" },
    { key: "number", value: "1.5" },
    { key: "big", value: "1e+21" },
    { key: "yes", value: "true" },
    { key: "no", value: "false" },
  ]);
});

test("a hash is also read under the name that clients use, if its own member is absent", () => {
  const both = { output_hash: hash("1"), outcome_hash: hash("2"), input_hash: hash("3") };
  expect(hashMember(both, "outcome_hash")).toBe(hash("2"));
  expect(hashMember({ output_hash: hash("1") }, "outcome_hash")).toBe(hash("1"));
  expect(hashMember({ output_hash: hash("1") }, "context_hash")).toBeUndefined();
  expect(hashMember(both, "context_hash")).toBe(hash("3"));
  expect(hashMember({ output_hash: "no hash" }, "outcome_hash")).toBeUndefined();
});

test("a value of the wrong type counts as absent, whatever JSON it is", () => {
  const optional = [
    "risk_tier",
    "legal_bases",
    "correlation_id",
    "subject_hash",
    "trace_id",
    "asset_version",
    "tags",
    "metadata",
  ];
  fc.assert(
    fc.property(fc.constantFrom(...optional), fc.jsonValue(), (name, value) => {
      const facts = eventFacts({ ...minimal, [name]: value });
      expect(Object.keys(facts ?? {}).sort()).toEqual(
        ["eventId", "eventType", "assetId", "occurred", ...Object.keys(nothingElse)].sort(),
      );
    }),
  );
  const metadata = { legal_bases: "pipa_37_2_kr", user_id_hash: 7, recipient_hash: "01012345678" };
  expect(eventFacts({ ...minimal, metadata, risk_tier: 3, tags: ["a"], correlation_id: {} })).toMatchObject({
    ...nothingElse,
    metadata,
  });
});

test("a text is shortened between two characters only if it is too long", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.integer({ min: 1, max: 20 }),
      (text, charactersMax) => {
        const kept = shortened(text, charactersMax);
        if (text.length <= charactersMax) return kept === text;
        const start = kept.slice(0, -1);
        const isLongest = charactersMax - start.length <= Number(text.charCodeAt(start.length) >= 0xd800);
        return kept.endsWith("…") && text.startsWith(start) && kept.isWellFormed() && isLongest;
      },
    ),
  );
  // Half of a surrogate pair that was sent alone stays.
  expect(shortened(`${"x".repeat(KEPT_TEXT_CHARACTERS_MAX - 1)}\ud83dx`)).toEndWith("\ud83d…");
});

test.each([
  ["9007199254740993", "9007199254740993"],
  ["-12345678901234567891", "-12345678901234567891"],
  ["9007199254740992", "9007199254740992"],
  ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ["1234567890.1234567890", Number("1234567890.1234567890")],
  ["1e20", 1e20],
  ["123456789012345678e3", Number("123456789012345678e3")],
  ['"12345678901234567891"', "12345678901234567891"],
  ["-0", -0],
])("%s in tags, in metadata or as the name of a decision is read as %p", (sent, expected) => {
  const text = `{"n":12345678901234567891,"decision_id":${sent},"tags":{"t":${sent}},"metadata":{"m":[{"x":${sent}}],"k":1}}`;
  expect(readEvent(text)).toEqual({
    n: Number("12345678901234567891"),
    decision_id: expected,
    tags: { t: expected },
    metadata: { m: [{ x: expected }], k: 1 },
  });
});

const large = fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }).map(Number);
const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    large,
    fc.jsonValue({ maxDepth: 0 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 3 }),
  ),
})).value;

const asText = (_name: string, value: unknown): unknown =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && !String(value).includes("e")
    ? String(value)
    : value;

test("everything else is read as JSON", () => {
  fc.assert(
    fc.property(fc.record({ tags: anything, metadata: anything, other: anything }), (event) => {
      const text = JSON.stringify(event);
      const { other } = JSON.parse(text);
      expect(readEvent(text)).toEqual({ ...JSON.parse(text, asText), other });
    }),
  );
});

test.each(["12345678901234567", "9007199254740993"])(
  "a number of many digits, %s, is found at any position",
  (digits) => {
    for (let before = 0; before < 40; before++) {
      const text = `{"tags":{"${"x".repeat(before)}":${digits}}}`;
      expect(readEvent(text).tags).toEqual({ ["x".repeat(before)]: digits });
    }
  },
);

test("a text that is not JSON is an error, and a value that is not an object has no members", () => {
  expect(() => readEvent("{")).toThrow();
  expect(Object.keys(readEvent("5"))).toEqual([]);
});
