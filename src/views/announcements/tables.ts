import { INTEGER, type Table, TEXT } from "../store/tables.ts";
import type { ViewDefinition } from "../store/view-store.ts";

/** The last announcement of each duty. Not a projection: it does not follow from the log, and a rebuilt view of cases announces nothing again. */
export const TOLD = {
  name: "obligations_told",
  columns: { tenant: TEXT, obligation_id: TEXT, state: TEXT, due_at: TEXT },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [],
} as const satisfies Table;

/** How often each duty was announced. */
export const TELLINGS = {
  name: "obligation_tellings",
  columns: { tenant: TEXT, obligation_id: TEXT, tellings: INTEGER },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [],
} as const satisfies Table;

/**
 * Announcements that were begun: written before publishing, and removed when the announcement is recorded. Such a row does not say whether the
 * message is in the stream.
 */
export const BEGUN = {
  name: "obligation_tellings_begun",
  columns: { tenant: TEXT, obligation_id: TEXT, state: TEXT, due_at: TEXT, number: INTEGER },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [],
} as const satisfies Table;

/**
 * The version of the view of cases of the last announcements: another version may give existing duties another state or time. Older programs wrote
 * their rules here.
 */
export const TOLD_VERSION = {
  name: "obligation_rules_told",
  columns: { name: TEXT, rules: TEXT },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

export const TOLD_VERSION_KEY = { name: "rules" } as const;
/** The version of no view of cases: all duties are looked at once. */
export const TOLD_BY_NO_VERSION = { ...TOLD_VERSION_KEY, rules: "rebuilt" } as const;
/**
 * If others had announced before: the newest message at the beginning, which becomes part of the ids, because the ids that those announcers used are
 * not known any more.
 */
export const TOLD_BEHIND_KEY = { name: "behind" } as const;
/** The position of cases at the first announcer's look; removed when it has begun. */
export const TOLD_FROM_KEY = { name: "from" } as const;
/** The end of the log at that look; removed likewise. */
export const TOLD_FROM_LOG_KEY = { name: "from_log" } as const;

/** When a duty changes next by time alone. */
export const BOUNDARIES = {
  name: "obligation_boundaries",
  columns: { tenant: TEXT, owner: TEXT, obligation_id: TEXT, at: TEXT },
  primaryKey: ["tenant", "owner", "obligation_id"],
  indexes: [["tenant", "at", "owner", "obligation_id"]],
} as const satisfies Table;

/**
 * With another version everything announced would be forgotten: all duties would be announced again, and open ones would never fall due. Their texts
 * are names of deadlines, event_ids, tenants, states and times, which contain none of the characters that are stored differently (views/text.ts), so
 * a change of that storage form changes nothing here.
 */
export const ANNOUNCEMENTS: ViewDefinition = {
  name: "announcements",
  version: 1,
  tables: [TOLD, BOUNDARIES],
};

/** Written together with ANNOUNCEMENTS; a view of its own because it was added later. */
export const ANNOUNCEMENT_NOTES: ViewDefinition = {
  name: "announcement_notes",
  version: 1,
  tables: [TELLINGS, TOLD_VERSION],
};

/** The same; added later still. */
export const ANNOUNCEMENTS_BEGUN: ViewDefinition = {
  name: "announcements_begun",
  version: 1,
  tables: [BEGUN],
};
