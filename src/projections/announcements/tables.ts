import { INTEGER, type Table, TEXT } from "../../views/tables.ts";
import type { ViewDefinition } from "../../views/view-store.ts";

/** What was told of each duty last. Not a projection: it does not follow from the log, and a rebuilt view of cases tells nothing again. */
export const TOLD = {
  name: "obligations_told",
  columns: { tenant: TEXT, obligation_id: TEXT, state: TEXT, due_at: TEXT },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [],
} as const satisfies Table;

/** How often each duty was told of. */
export const TELLINGS = {
  name: "obligation_tellings",
  columns: { tenant: TEXT, obligation_id: TEXT, tellings: INTEGER },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [],
} as const satisfies Table;

/** What was begun to be told: written before it is published, and gone when it is recorded. Who finds one does not know whether it is in the stream. */
export const BEGUN = {
  name: "obligation_tellings_begun",
  columns: { tenant: TEXT, obligation_id: TEXT, state: TEXT, due_at: TEXT, number: INTEGER },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [],
} as const satisfies Table;

/** By which version of the view of cases duties were told of last: another one may give duties that are there already another state or time. Older programs wrote their rules here. */
export const TOLD_VERSION = {
  name: "obligation_rules_told",
  columns: { name: TEXT, rules: TEXT },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

export const TOLD_VERSION_KEY = { name: "rules" } as const;
/** No version of the view of cases: all duties are looked at once. */
export const TOLD_BY_NO_VERSION = { ...TOLD_VERSION_KEY, rules: "rebuilt" } as const;
/** Where others had told before: the newest message that there was when this began, which is part of the ids. Nobody knows any more which ids they gave. */
export const TOLD_BEHIND_KEY = { name: "behind" } as const;
/** Where cases stood when the first announcer looked: gone when it has begun. */
export const TOLD_FROM_KEY = { name: "from" } as const;
/** Where the log ended then. The same. */
export const TOLD_FROM_LOG_KEY = { name: "from_log" } as const;

/** When a duty changes next by time alone. */
export const BOUNDARIES = {
  name: "obligation_boundaries",
  columns: { tenant: TEXT, owner: TEXT, obligation_id: TEXT, at: TEXT },
  primaryKey: ["tenant", "owner", "obligation_id"],
  indexes: [["tenant", "at", "owner", "obligation_id"]],
} as const satisfies Table;

/**
 * With another version what was told would be forgotten: all duties would be told of again, and those that are open never fall due. Their texts are names of
 * deadlines, event_ids, tenants, states and times, which have none of the characters that are stored otherwise than they are (views/text.ts): who changes how those
 * are written changes nothing here.
 */
export const ANNOUNCEMENTS: ViewDefinition = {
  name: "announcements",
  version: 1,
  tables: [TOLD, BOUNDARIES],
};

/** Written with ANNOUNCEMENTS, and a view of its own because it came later. */
export const ANNOUNCEMENT_NOTES: ViewDefinition = {
  name: "announcement_notes",
  version: 1,
  tables: [TELLINGS, TOLD_VERSION],
};

/** The same: it came later still. */
export const ANNOUNCEMENTS_BEGUN: ViewDefinition = {
  name: "announcements_begun",
  version: 1,
  tables: [BEGUN],
};
