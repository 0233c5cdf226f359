/** Who may open which screen, as the API answers (src/api/http/access.ts). It only spares the reader pages that would be refused: the service decides. */
import type { Screen } from "./screen-names.ts";

export const ROLES = ["admin", "officer", "auditor", "developer"] as const;
export type Role = (typeof ROLES)[number];

export interface Covers {
  readonly asset_ids?: readonly string[];
  readonly from?: string;
  readonly to?: string;
}

interface Access {
  /** A key without a role needs it. */
  readonly scope: "events:read" | "events:write" | "keys:manage";
  readonly roles: readonly Role[];
  /** Of the seats that cover only a part, which may open it: all, those of systems at all times, or none. */
  readonly parts: "any" | "systems" | "none";
}

const EVENTS: Access = { scope: "events:read", roles: ROLES, parts: "any" };
const SENDERS: Access = { ...EVENTS, parts: "none" };
const REGISTER: Access = { scope: "events:read", roles: ["admin", "officer", "auditor"], parts: "any" };
const SYSTEM: Access = { ...REGISTER, parts: "systems" };
const SENDING: Access = { scope: "events:write", roles: ["admin", "officer", "developer"], parts: "none" };
const MANAGING: Access = { scope: "keys:manage", roles: ["admin"], parts: "none" };

const ACCESS: Readonly<Record<Screen, Access>> = {
  "": EVENTS,
  "sign-in": EVENTS,
  events: EVENTS,
  event: EVENTS,
  decisions: REGISTER,
  decision: REGISTER,
  letter: REGISTER,
  obligations: REGISTER,
  coverage: SYSTEM,
  evidence: SYSTEM,
  record: SENDING,
  systems: SYSTEM,
  system: SYSTEM,
  models: REGISTER,
  notices: REGISTER,
  objections: REGISTER,
  reviews: REGISTER,
  incidents: REGISTER,
  incident: REGISTER,
  "first-report": REGISTER,
  assessments: REGISTER,
  "risk-changes": REGISTER,
  sources: SENDERS,
  gaps: SENDERS,
  keys: MANAGING,
  retention: MANAGING,
  "looked-at": EVENTS,
};

export interface Seat {
  readonly scopes: readonly string[];
  readonly role?: Role;
  readonly covers?: Covers;
}

export const mayOpen = ({ scopes, role, covers }: Seat, screen: Screen): boolean => {
  const { scope, roles, parts } = ACCESS[screen];
  if (!scopes.includes(scope) || (role && !roles.includes(role))) return false;
  if (covers === undefined || parts === "any") return true;
  return parts === "systems" && covers.from === undefined && covers.to === undefined;
};

export const whoMayOpen = (screen: Screen): Pick<Access, "scope" | "roles"> => ACCESS[screen];
