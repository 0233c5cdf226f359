/** Who may use a route: its scope, whether developers may, and how it is limited for an auditor's seat that covers only a part. */

import type { Scope } from "../../access/scopes.ts";
import { ROLE_SCOPES, ROLES, type Role } from "../../access/seats.ts";

export const ANY_SCOPE = "any";

/** How a route is limited for a seat with `covers`. */
export type SeatLimit =
  | "open"
  /** By its filter of systems (or the system in its path) and its `from` and `to`. */
  | "by_system_and_time"
  /** By its filter of systems, or the system in its path. It shows all times. */
  | "by_system"
  /** As `by_system`, but not by names of cases or persons, which may concern several systems. */
  | "by_system_alone"
  | "by_events"
  | "by_handler"
  | "closed";

export interface Access {
  readonly scope: Scope | typeof ANY_SCOPE;
  readonly isForDevelopers: boolean;
  readonly seat: SeatLimit;
  /** Whether the log gets what an auditor's seat opens here. */
  readonly isRecorded?: boolean;
}

const reads = (isForDevelopers: boolean, seat: SeatLimit): Access => ({
  scope: "events:read",
  isForDevelopers,
  seat,
  isRecorded: true,
});

export const ANYBODY: Access = { scope: ANY_SCOPE, isForDevelopers: true, seat: "open" };
export const OWN_SESSION: Access = { scope: "events:read", isForDevelopers: true, seat: "open" };
export const SENDING: Access = { scope: "events:write", isForDevelopers: true, seat: "closed" };
export const EVENT_LIST = reads(true, "by_system_and_time");
export const LIVE_EVENTS = reads(true, "by_system");
export const ONE_EVENT = reads(true, "by_events");
export const ONE_PROOF = reads(true, "by_handler");
export const TREE = reads(true, "open");
export const EVENT_COUNTS = reads(true, "by_system");
export const SOURCES = reads(true, "closed");
export const REGISTER = reads(false, "by_system_and_time");
export const ONE_CASE = reads(false, "by_events");
export const BUNDLE = reads(false, "by_system_alone");
export const MADE_BUNDLES = reads(false, "closed");
export const SYSTEMS = reads(false, "by_system");
export const BALANCES = reads(false, "closed");
export const MANAGING: Access = { scope: "keys:manage", isForDevelopers: false, seat: "closed" };
/** A feed is bound to its own filter, which need not be that of a seat. */
export const CALENDARS: Access = { ...reads(false, "closed"), isRecorded: false };
export const CALENDAR_FEED: Access = {
  scope: "obligations:calendar",
  isForDevelopers: false,
  seat: "closed",
};
export const EMBEDDING: Access = { scope: "events:embed", isForDevelopers: false, seat: "closed" };
export const WAIVING: Access = { scope: "obligations:waive", isForDevelopers: false, seat: "closed" };

export const rolesOf = ({ scope, isForDevelopers }: Access): readonly Role[] =>
  ROLES.filter(
    (role) =>
      (scope === ANY_SCOPE || ROLE_SCOPES[role].includes(scope)) && (role !== "developer" || isForDevelopers),
  );

export const refusesDevelopers = ({ scope, isForDevelopers }: Access): boolean =>
  !isForDevelopers && scope !== ANY_SCOPE && ROLE_SCOPES.developer.includes(scope);

export const SEAT_SAYS: Readonly<Record<SeatLimit, string>> = {
  open: "",
  by_system_and_time: "With `covers`, its `asset_id`, `from` and `to` are limited to those of the seat.",
  by_system: "With `covers`, it is limited to the systems of the seat; a seat with a time range may not.",
  by_system_alone:
    "With `covers`, it is limited to the systems of the seat, and asked by `asset_id`; a seat with a time range may not.",
  by_events: "With `covers`, it is shown if all of its events are inside the seat.",
  by_handler: "With `covers`, it is shown if the event is inside the seat.",
  closed: "With `covers`, it is refused, because it cannot be limited.",
};
