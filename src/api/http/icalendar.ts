/** Writes a calendar (RFC 5545). The properties NAME and REFRESH-INTERVAL are those of RFC 7986; X- ones are for programs that know no other. */
import { Buffer } from "node:buffer";

export interface CalendarEntry {
  /** The same in every answer, for the same thing. */
  readonly uid: string;
  /** RFC 3339 in UTC. */
  readonly at: string;
  readonly summary: string;
  readonly description: string;
}

export const calendarText = (calendar: {
  readonly name: string;
  readonly description: string;
  readonly now: Date;
  readonly entries: readonly CalendarEntry[];
}): string => {
  const { name, description, now, entries } = calendar;
  const stamp = utcOf(now.toISOString());
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Prooftrail//Obligations//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    `NAME:${escaped(name)}`,
    `X-WR-CALNAME:${escaped(name)}`,
    `X-WR-CALDESC:${escaped(description)}`,
    "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    "X-PUBLISHED-TTL:PT1H",
    ...entries.flatMap((entry) => [
      "BEGIN:VEVENT",
      `UID:${escaped(entry.uid)}`,
      `DTSTAMP:${stamp}`,
      `DTSTART:${utcOf(entry.at)}`,
      `SUMMARY:${escaped(entry.summary)}`,
      `DESCRIPTION:${escaped(entry.description)}`,
      // It takes nobody's time: it is not shown as busy (§3.8.2.7).
      "TRANSP:TRANSPARENT",
      "END:VEVENT",
    ]),
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join("");
};

/** §3.3.5, form 2. By text, because a leap second is a time as well. */
const utcOf = (time: string): string => `${time.slice(0, WHOLE_SECONDS).replaceAll(/[-:]/g, "")}Z`;
const WHOLE_SECONDS = "2026-11-29T00:00:00".length;

/** §3.3.11. A control character has no form there. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[\\;,]/g, "\\$&")
    .replaceAll(/\r?\n/g, "\\n")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
    .replaceAll(/[\u0000-\u001F\u007F]/g, "");

/** §3.1: a line has at most 75 octets; the next one begins with a space, which counts. No character is cut. */
export const folded = (line: string): string => {
  let text = "";
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > LINE_OCTETS_MAX) {
      text += "\r\n ";
      octets = 1;
    }
    text += character;
    octets += size;
  }
  return text;
};

const LINE_OCTETS_MAX = 75;
