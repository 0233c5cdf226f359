/** Keys as the API lists them, and what the console says about them. */
import { numberOf, yearTimeOf } from "./language.ts";
import type { Covers, Role } from "./screen-access.ts";
import { systemName } from "./systems.ts";
import { say, type Word } from "./words.ts";

export interface Key {
  readonly id: string;
  readonly tenant: string;
  readonly name?: string;
  readonly scopes: readonly string[];
  readonly role?: Role;
  readonly person?: string;
  readonly covers?: Covers;
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at?: string;
  readonly revoked_at?: string;
  readonly rate_limit?: { readonly requests_per_second?: number; readonly events_per_second?: number };
  readonly replaced_by?: string;
  readonly grace_until?: string;
}

export const keyName = ({ name, id }: Pick<Key, "name" | "id">): string => name ?? id;

/** The state, with the class of its shape. The later ones go before the earlier: an expired key that was revoked is revoked. */
export const keyState = (key: Key): { readonly word: Word; readonly shape: string; readonly at?: string } => {
  const isOver = (time: string): boolean => Date.parse(time) <= Date.now();
  if (key.revoked_at) return { word: "key_revoked", shape: "breached", at: key.revoked_at };
  if (key.expires_at && isOver(key.expires_at)) return { word: "key_expired", shape: "waived" };
  if (!key.grace_until) return { word: "key_active", shape: "met" };
  return isOver(key.grace_until)
    ? { word: "key_replaced", shape: "waived" }
    : { word: "key_ending", shape: "soon", at: key.grace_until };
};

export const worksStill = (key: Key): boolean => ["key_active", "key_ending"].includes(keyState(key).word);

const SCOPE_WORDS: Readonly<Record<string, Word>> = {
  "events:read": "scope_read",
  "events:write": "scope_write",
  "keys:manage": "scope_manage",
  "obligations:waive": "scope_waive",
  "obligations:calendar": "scope_calendar",
  "events:embed": "scope_embed",
};

export const scopeName = (scope: string): string => {
  const word = SCOPE_WORDS[scope];
  return word ? say(word) : scope;
};

export const coversText = ({ asset_ids, from, to }: Covers): string =>
  [
    asset_ids?.map(systemName).join(", "),
    from && say("covers_since", { t: yearTimeOf(from) }),
    to && say("covers_until", { t: yearTimeOf(to) }),
  ]
    .filter(Boolean)
    .join("; ");

export const limitsText = ({ rate_limit: limits }: Key): string =>
  (["requests_per_second", "events_per_second"] as const)
    .flatMap((name) => {
      const value = limits?.[name];
      return value === undefined ? [] : [say(`limit_${name}`, { n: numberOf(value) })];
    })
    .join(", ");
