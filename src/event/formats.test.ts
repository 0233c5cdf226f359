import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  canonicalEventId,
  eventIdPattern,
  instantKeyOf,
  isEventId,
  isLegalBasis,
  isSha256,
  isUtcTimestamp,
  timeKey,
} from "./formats.ts";

describe("timestamp", () => {
  test.each(
    `2026-11-20T10:00:00Z 2026-11-20t10:00:00z 2026-11-20T10:00:00.123456789Z 2026-11-20T10:00:00+00:00
     2026-11-20T10:00:00-00:00 2024-02-29T00:00:00Z 2000-02-29T00:00:00Z 2016-12-31T23:59:60Z
     0000-01-01T00:00:00Z`.split(/\s+/),
  )("%s is a time in UTC", (text) => expect(isUtcTimestamp(text)).toBe(true));

  test.each([
    ...`2026-11-20 2026-11-20T10:00:00 2026-11-20T10:00Z 2026-11-20T10:00:00.Z 2026-11-20T10:00:00+09:00
     2023-02-29T00:00:00Z 1900-02-29T00:00:00Z 2026-02-30T00:00:00Z 2026-04-31T00:00:00Z
     2026-13-01T00:00:00Z 2026-00-01T00:00:00Z 2026-01-00T00:00:00Z 2026-01-01T24:00:00Z
     2026-01-01T00:60:00Z 2026-01-01T12:00:60Z 2026-01-30T23:59:60Z +02026-11-20T10:00:00Z`.split(/\s+/),
    "",
    "2026-11-20 10:00:00Z",
    "2026-11-20T10:00:00Z\n",
  ])("%j is refused", (text) => expect(isUtcTimestamp(text)).toBe(false));

  test("keys sort like the times, to the nanosecond", () => {
    const time = fc.record({
      seconds: fc.integer({ min: 0, max: 86_399 }),
      nanoseconds: fc.integer({ min: 0, max: 999_999_999 }),
    });
    const write = ({ seconds, nanoseconds }: { seconds: number; nanoseconds: number }): string => {
      const clock = new Date(seconds * 1000).toISOString().slice(11, 19);
      return `1970-01-01T${clock}.${String(nanoseconds).padStart(9, "0")}Z`;
    };
    fc.assert(
      fc.property(time, time, (a, b) => {
        const order = Math.sign(a.seconds - b.seconds || a.nanoseconds - b.nanoseconds);
        const [left, right] = [timeKey(write(a)), timeKey(write(b))];
        expect(left < right ? -1 : left > right ? 1 : 0).toBe(order);
      }),
    );
  });

  test("a moment has one key, however it is spelled", () => {
    const spellings = ["2026-11-20T10:00:00Z", "2026-11-20t10:00:00.000z", "2026-11-20T10:00:00.0+00:00"];
    expect(new Set(spellings.map(timeKey))).toEqual(new Set(["2026-11-20T10:00:00"]));
    expect(timeKey("2026-11-20T10:00:10Z")).toBe("2026-11-20T10:00:10");
    expect(timeKey("2026-11-20T10:00:00.120Z")).toBe("2026-11-20T10:00:00.12");
    expect(timeKey(`2026-11-20T10:00:00.${"0".repeat(100)}1Z`)).toBe("2026-11-20T10:00:00");
    expect(timeKey(`2026-11-20T10:00:00.${"12".repeat(50)}Z`)).toBe(`2026-11-20T10:00:00.${"12".repeat(32)}`);
  });
});

describe("event_id", () => {
  const prefixes = ["evt_"];
  const ACCEPTED = [
    "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
    "0190A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B",
    "evt_1",
    "evt_sample_001",
    `evt_${"x".repeat(250)}`,
    `evt_${"😀".repeat(250)}`,
    "evt_ with space / slash",
  ];
  const REFUSED = [
    "",
    "evt_",
    "EVT_1",
    "obj_1",
    "0190a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5b",
    "0190a1b2-c3d4-7e5f-ca9b-0c1d2e3f4a5b",
    "0190a1b2c3d47e5f8a9b0c1d2e3f4a5b",
    `evt_${"x".repeat(251)}`,
    `evt_${"😀".repeat(251)}`,
    "evt_a\nb",
    "evt_a\u0000",
    "evt_a\u0085",
    "evt_\ud800",
  ];

  test.each(ACCEPTED)("%s is accepted", (id) => expect(isEventId(id, prefixes)).toBe(true));

  test.each(REFUSED)("%j is refused", (id) => expect(isEventId(id, prefixes)).toBe(false));

  test("is described by a published pattern that accepts the same ids, whether or not an engine counts code points", () => {
    const all = [...prefixes, "obj_"];
    const patterns = ["u", ""].map((flags) => new RegExp(eventIdPattern(all), flags));
    const unit = fc.constantFrom(..."079aF-\n\0\u007f\u009fé ".split(""), "\ud83d", "\ude00", "😀");
    const suffix = fc.oneof(
      fc.string({ unit: "binary", maxLength: 5 }),
      fc.array(unit, { maxLength: 260 }).map((units) => units.join("")),
      fc.integer({ min: 245, max: 255 }).chain((length) => unit.map((one) => one.repeat(length))),
    );
    const prefixed = fc
      .tuple(fc.constantFrom("evt_", "obj_", "rev_", "evt", "EVT_", ""), suffix)
      .map((parts) => parts.join(""));
    const uuid = fc
      .oneof(fc.uuid(), fc.uuid({ version: 7 }))
      .chain((text) => fc.constantFrom(text, text.toUpperCase(), `${text}\n`, `evt_${text}`, text.slice(1)));
    const cases = [...ACCEPTED, ...REFUSED];
    fc.assert(
      fc.property(fc.oneof(prefixed, uuid, fc.constantFrom(...cases)), (id) => {
        for (const pattern of patterns) expect(pattern.test(id)).toBe(isEventId(id, all));
      }),
      { numRuns: 5000, examples: cases.map((id): [string] => [id]) },
    );
  });

  test("only UUIDs are compared without regard to case", () => {
    expect(canonicalEventId("0190A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B")).toBe(
      "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
    );
    // A UUID of any version: another system may have named the decision that an event refers to.
    expect(canonicalEventId("0190A1B2-C3D4-4E5F-8A9B-0C1D2E3F4A5B")).toBe(
      "0190a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5b",
    );
    expect(canonicalEventId("evt_AbC")).toBe("evt_AbC");
  });
});

test.each([
  ["2026-11-20T10:00:00.120Z", "2026-11-20T10:00:00.12"],
  ["2026-11-20T10:00:00+09:00", "2026-11-20T01:00:00"],
  ["2026-12-31T23:59:59.5-01:30", "2027-01-01T01:29:59.5"],
  ["2024-03-01T00:00:00+00:01", "2024-02-29T23:59:00"],
  ["2017-01-01T08:59:60+09:00", "2016-12-31T23:59:60"],
  ["2016-12-31T15:59:60.25-08:00", "2016-12-31T23:59:60.25"],
])("%s is the instant %s", (text, instant) => expect(instantKeyOf(text)).toBe(instant));

// The last ones: a leap second is at the end of a month, in UTC.
test.each(
  `2026-11-20 2026-11-20T10:00:00 2026-02-30T10:00:00+09:00 2026-11-20T10:00:61+09:00
   2026-11-20T10:61:00+09:00 2026-11-20T24:00:00+09:00 2026-11-20T10:00:00+25:00
   2017-01-01T08:58:60+09:00 2017-01-01T23:59:60+09:00`.split(/\s+/),
)("%s is not an instant", (text) => expect(instantKeyOf(text)).toBeUndefined());

test("a hash is sha256: and 64 hex digits, and a legal basis is a name in lower case of at most 64 characters", () => {
  expect(isSha256(`sha256:${"aB".repeat(32)}`)).toBe(true);
  expect(isSha256(`SHA256:${"ab".repeat(32)}`)).toBe(false);
  expect(isSha256(`sha256:${"ab".repeat(31)}`)).toBe(false);
  expect(isSha256("ab".repeat(32))).toBe(false);
  expect(isLegalBasis("ai_basic_law_kr")).toBe(true);
  expect(isLegalBasis("Ai_basic")).toBe(false);
  expect(isLegalBasis("36_kr")).toBe(false);
  expect(isLegalBasis("a".repeat(65))).toBe(false);
});
