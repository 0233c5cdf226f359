import { expect, test } from "bun:test";
import fc from "fast-check";
import { calendarText, folded } from "../routes/calendars.ts";

const unfolded = (text: string): string => text.replaceAll("\r\n ", "");
const anyText = fc.string({ unit: "grapheme", minLength: 100, maxLength: 400 });

test("a folded line has at most 75 octets in each part, and unfolds to what it was", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const line = text.replaceAll(/[\r\n]/g, "");
      expect(unfolded(folded(line))).toBe(line);
      for (const part of folded(line).split("\r\n")) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(75);
    }),
  );
});

test("no text of an entry begins a line of its own, and each reads back as it was", () => {
  fc.assert(
    fc.property(anyText, anyText, (summary, description) => {
      const entry = { uid: "1@x", at: "2026-12-31T14:59:59Z", summary, description };
      const text = calendarText({ name: "n", description: "d", now: new Date(0), entries: [entry] });
      const lines = unfolded(text).split("\r\n");
      expect(lines.filter((line) => line.startsWith("BEGIN:VEVENT"))).toHaveLength(1);
      expect(lines).toContain("DTSTART:20261231T145959Z");
      const said = (name: string): string =>
        lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1) ?? "";
      const read = (value: string): string =>
        value.replaceAll(/\\(.)/gs, (_, character) => (character === "n" ? "\n" : character));
      const kept = (value: string): string =>
        // biome-ignore lint/suspicious/noControlCharactersInRegex: iCalendar has no form for them.
        value.replaceAll("\r\n", "\n").replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F]/g, "");
      expect([read(said("SUMMARY")), read(said("DESCRIPTION"))]).toEqual([kept(summary), kept(description)]);
    }),
  );
});
