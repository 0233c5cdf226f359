/** Seats, and the screens that the navigation of each has. */
export const READER = [
  ...[
    "Overview",
    "Events",
    "Decisions",
    "Obligations",
    "Coverage",
    "Evidence",
    "Record",
    "Systems",
    "Models",
  ],
  ...["Notices", "Objections", "Human reviews", "Incidents", "Assessments", "Changes of risk", "Sources"],
] as const;

const without = (...names: readonly string[]): readonly string[] =>
  READER.filter((name) => !names.includes(name));

export const SEATS = [
  ["admin", { role: "admin" }, [...READER, "Keys and people", "Retention and holds"]],
  ["officer", { role: "officer" }, READER],
  ["auditor", { role: "auditor" }, without("Record")],
  [
    "auditor of a system",
    { role: "auditor", covers: { asset_ids: ["consumer-credit-eu"] } },
    without("Record", "Sources"),
  ],
  [
    "auditor of a time",
    { role: "auditor", covers: { from: "2026-01-01T00:00:00Z" } },
    without("Record", "Sources", "Coverage", "Evidence", "Systems"),
  ],
  ["developer", { role: "developer" }, ["Overview", "Events", "Record", "Sources"]],
  ["key that only reads", { scopes: ["events:read"] }, without("Record")],
] as const satisfies readonly (readonly [name: string, seat: object, screens: readonly string[]])[];
