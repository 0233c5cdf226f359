import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import fc from "fast-check";
import { createAcceptor } from "./acceptor.ts";
import { auditEventSchema } from "./audit-event.ts";
import { EVENT_TYPES } from "./event-types.ts";

const schema = auditEventSchema({ eventTypes: EVENT_TYPES, eventIdPrefixes: ["evt_"], legalBases: [] });

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.integer({ min: 250, max: 520 }).map((length) => "x".repeat(length)),
  fc.constantFrom(
    "evt_1",
    "high",
    "ai_basic_law_kr",
    "2026-11-20T10:00:00Z",
    "2026-02-30T10:00:00Z",
    "incident.detected",
  ),
  fc.stringMatching(/^sha256:[0-9a-fA-F]{63,65}$/),
);
const scalar = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null));
const anything = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 12 }),
  fc.dictionary(fc.string({ maxLength: 70 }), scalar, { maxKeys: 18 }),
  fc.dictionary(fc.constantFrom("a\n", "\u2028", "b"), scalar, { maxKeys: 2 }),
  fc.jsonValue(),
);
const valid = {
  event_id: "evt_1",
  timestamp: "2026-11-20T10:00:00Z",
  asset_id: "a",
  event_type: "incident.detected",
};

test("the acceptor accepts exactly what TypeBox accepts, for any value of any member", () => {
  const accepts = createAcceptor(schema);
  const compiled = TypeCompiler.Compile(schema);
  const members = fc.constantFrom(...Object.keys(schema.properties), "other");
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(members, anything), { maxLength: 3 }), (changes) => {
      // As it comes from the wire: without undefined and NaN.
      const event: unknown = JSON.parse(JSON.stringify({ ...valid, ...Object.fromEntries(changes) }));
      expect(accepts(event)).toBe(compiled.Check(event));
      if (accepts(event)) accepted++;
    }),
    { numRuns: 20_000 },
  );
  expect(accepted).toBeGreaterThan(1000);
  fc.assert(fc.property(anything, (value) => expect(accepts(value)).toBe(compiled.Check(value))));
  for (const missing of Object.keys(valid)) expect(accepts({ ...valid, [missing]: undefined })).toBe(false);
});

test("an acceptor for a schema of an unknown kind cannot be made", () => {
  expect(() => createAcceptor(Type.Date())).toThrow("no acceptor for the kind Date");
});
