import { expect, test } from "bun:test";
import fc from "fast-check";
import { fillEvent } from "./send-input.ts";

const make = { eventId: () => "made", timestamp: () => "now" };

test("missing members are added, and the written text stays exactly as it is", () => {
  const name = fc.constantFrom("event_id", "timestamp", "asset_id", "__proto__", "{");
  const space = fc.constantFrom("", " ", "\t\r");
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue()), space, (members, around) => {
      const text = around + JSON.stringify(members) + around;
      const written: Record<string, unknown> = JSON.parse(text);
      const missing = ["event_id", "timestamp"].filter((each) => !Object.hasOwn(written, each));
      const filled = fillEvent(text, make);
      const read: Record<string, unknown> = JSON.parse(filled);
      for (const each of missing) expect(read[each]).toBe(each === "event_id" ? "made" : "now");
      expect(Object.keys(read).sort()).toEqual([...Object.keys(written), ...missing].sort());
      expect(filled).toEndWith(text.slice(text.indexOf("{") + 1));
      if (missing.length === 0) expect(filled).toBe(text);
    }),
  );
});

test("text that is not an object is left alone", () => {
  for (const text of ["[]", "7", "null", '"{}"', '[{"event_id":1}]'])
    expect(fillEvent(text, make)).toBe(text);
});
