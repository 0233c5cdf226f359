import { expect, test } from "bun:test";
import fc from "fast-check";
import { calendarText } from "../routes/keys.ts";

test("no text of an entry begins a line of its own, each reads back as it was, and no line has more than 75 octets, nor is a shorter one folded", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 100, maxLength: 400 }), (asset_id) => {
      const entry = { asset_id, rule: "GDPR-12-3", due_at: "2026-12-31T14:59:59Z" };
      const calendar = { isWhole: true, language: "en", tenant: "acme", now: new Date(0) } as const;
      const text = calendarText({ ...calendar, entries: [entry] });
      for (const part of text.split("\r\n")) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(75);
      expect(text).toContain("\r\nREFRESH-INTERVAL;VALUE=DURATION:PT1H\r\n");
      const lines = text.replaceAll("\r\n ", "").split("\r\n");
      expect(lines.filter((line) => line.startsWith("BEGIN:VEVENT"))).toHaveLength(1);
      expect(lines).toContain("DTSTART:20261231T145959Z");
      const said = lines.find((line) => line.startsWith("SUMMARY:")) ?? "";
      const read = said.replaceAll(/\\(.)/gs, (_, character) => (character === "n" ? "\n" : character));
      const kept = asset_id
        .replaceAll("\r\n", "\n")
        // biome-ignore lint/suspicious/noControlCharactersInRegex: iCalendar has no form for them.
        .replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F]/g, "");
      expect(read).toBe(`SUMMARY:Answer the objection · ${kept}`);
    }),
  );
});
