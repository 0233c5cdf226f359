/** The language of the console, and how it writes times and numbers: in the reader's zone, unless a clock runs in another one. */
import { signal } from "@preact/signals";

export type Language = "en" | "ko";

const KEPT_UNDER = "prooftrail-language";

const kept = (): Language => {
  const named = localStorage.getItem(KEPT_UNDER) ?? navigator.language;
  return named.startsWith("ko") ? "ko" : "en";
};

export const language = signal<Language>(kept());

export const setLanguage = (to: Language): void => {
  localStorage.setItem(KEPT_UNDER, to);
  language.value = to;
};

/** English as Europeans write dates, because an American 11/12 is another day. */
const locale = (): string => (language.value === "ko" ? "ko-KR" : "en-GB");

const format =
  (options: Intl.DateTimeFormatOptions) =>
  (time: string, zone?: string): string =>
    new Intl.DateTimeFormat(locale(), { ...options, ...(zone !== undefined && { timeZone: zone }) }).format(
      new Date(time),
    );

const yearOf = format({ year: "numeric" });

/** With the year unless it is this one where the time is shown. */
const shortFormat = (options: Intl.DateTimeFormatOptions) => {
  const [short, long] = [format(options), format({ ...options, year: "numeric" })];
  return (time: string, zone?: string): string =>
    (yearOf(time, zone) === yearOf(new Date().toISOString(), zone) ? short : long)(time, zone);
};

export const dayOf = shortFormat({ day: "numeric", month: "short" });
export const dateOf = format({ day: "numeric", month: "short", year: "numeric" });
export const longDateOf = format({ day: "numeric", month: "long", year: "numeric" });
export const timeOf = shortFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
/** For what may be years away. */
export const yearTimeOf = format({
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
export const fullTimeOf = format({
  day: "numeric",
  month: "long",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
export const monthOf = format({ month: "long", year: "numeric" });
export const weekdayOf = format({ weekday: "short" });
/** Weeks begin on Monday, in Korea on Sunday. */
export const firstWeekday = (): number => (language.value === "ko" ? 0 : 1);
export const zoneOf = (zone: string): string => zone.split("/").at(-1)?.replaceAll("_", " ") ?? zone;

export const numberOf = (value: number): string => new Intl.NumberFormat(locale()).format(value);

/** "6 hours", "1 day". */
export const hoursOf = (hours: number): string => {
  const [value, unit] = hours < 24 ? [hours, "hour"] : [hours / 24, "day"];
  return new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "long" }).format(value);
};

const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** "54 kB". */
export const sizeOf = (bytes: number): string => {
  const step = Math.min(SIZES.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const options = { style: "unit", unit: SIZES[step] ?? "byte", maximumSignificantDigits: 3 } as const;
  return new Intl.NumberFormat(locale(), options).format(bytes / 1000 ** step);
};

const STEPS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** "in 6 days", "2 hours ago". */
export const fromNow = (time: string, now = Date.now()): string => {
  const difference = Date.parse(time) - now;
  const [unit, ms] = STEPS.find(([, length]) => Math.abs(difference) >= length) ?? ["second", 1000];
  const relative = new Intl.RelativeTimeFormat(locale(), { numeric: "always" });
  return relative.format(Math.trunc(difference / ms), unit);
};
