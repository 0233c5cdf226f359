/** The screens, by their path below the console's root. All are one level deep (place.ts). */
export const SCREENS = [
  "",
  "sign-in",
  "events",
  "event",
  "decisions",
  "decision",
  "letter",
  "obligations",
  "coverage",
  "evidence",
  "record",
  "systems",
  "system",
  "models",
  "notices",
  "objections",
  "reviews",
  "incidents",
  "incident",
  "first-report",
  "assessments",
  "risk-changes",
  "sources",
  "gaps",
] as const;

export type Screen = (typeof SCREENS)[number];
