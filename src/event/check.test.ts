import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import fc from "fast-check";
import { auditEventSchema } from "./audit-event.ts";
import { createCheck } from "./check.ts";
import { EVENT_TYPES } from "./event-types.ts";

const event = auditEventSchema({ eventTypes: EVENT_TYPES, eventIdPrefixes: ["evt_"], legalBases: [] });
const any = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: 5, pattern: "^[^b]*$" }),
    whole: Type.Optional(Type.Integer({ minimum: 1, maximum: 7 })),
    number: Type.Optional(Type.Number({ minimum: 0 })),
    flag: Type.Optional(Type.Boolean()),
    words: Type.Optional(
      Type.Array(Type.Union([Type.Literal("a"), Type.Literal("b")]), {
        minItems: 1,
        maxItems: 2,
        uniqueItems: true,
      }),
    ),
    either: Type.Optional(Type.Union([Type.Object({ n: Type.Number() }), Type.Null()])),
    record: Type.Optional(Type.Record(Type.String(), Type.String(), { maxProperties: 2 })),
  },
  { additionalProperties: false },
);

const text = fc.oneof(
  fc.constantFrom(
    "evt_1",
    "high",
    "ai_basic_law_kr",
    "2026-11-20T10:00:00Z",
    "2026-02-30T10:00:00Z",
    "a",
    "b",
    "",
  ),
  fc.string({ maxLength: 7 }),
  fc.integer({ min: 250, max: 260 }).map((length) => "x".repeat(length)),
  fc.stringMatching(/^sha256:[0-9a-fA-F]{63,65}$/),
);
const scalar = fc.oneof(text, fc.double(), fc.integer({ min: -1, max: 8 }), fc.boolean(), fc.constant(null));
const anything = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 12 }),
  fc.dictionary(fc.constantFrom("a", "n", "b", "c/~"), scalar, { maxKeys: 3 }),
  fc.jsonValue(),
);

test.each([
  [
    "an event",
    event,
    { event_id: "evt_1", timestamp: "2026-11-20T10:00:00Z", asset_id: "a", event_type: "objection" },
  ],
  ["every kind of schema", any, { text: "a" }],
])(
  "a check of %s finds faults in exactly the values that it refuses, which are those that TypeBox refuses",
  (_, schema, valid) => {
    const { accepts, faults } = createCheck(schema);
    // TypeBox does not know the rules of our own texts.
    const compiled = TypeCompiler.Compile(schema);
    const counts = { accepted: 0, refused: 0 };
    const members = fc.constantFrom(...Object.keys(schema.properties), "other");
    const values = fc.array(fc.tuple(members, anything), { maxLength: 3 }).map((changes): unknown =>
      // As it comes from the wire: without undefined and NaN.
      JSON.parse(JSON.stringify({ ...valid, ...Object.fromEntries(changes) })),
    );
    fc.assert(
      fc.property(fc.oneof(values, anything), (value) => {
        const isAccepted = accepts(value);
        expect(faults(value).length === 0).toBe(isAccepted);
        if (schema === any) expect(compiled.Check(value)).toBe(isAccepted);
        counts[isAccepted ? "accepted" : "refused"]++;
      }),
      { numRuns: 5000 },
    );
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(100);
  },
);

test("a schema of a kind or a format that is not known has no check", () => {
  expect(() => createCheck(Type.Date())).toThrow("no check for the kind Date");
  expect(() => createCheck(Type.String({ format: "date" }))).toThrow("no check for the format date");
});
