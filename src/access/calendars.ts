/**
 * Calendar feeds. Calendar programs send no header, so the token is in the feed's address: a key that can read the feed and nothing
 * else, bound to a filter. Whoever may read obligations creates, lists and revokes their own; `keys:manage` reaches all of them.
 */
import { type Static, Type } from "@sinclair/typebox";
import type { Actor } from "./action.ts";
import type { Principal } from "./authenticate.ts";
import { withLimits } from "./grant.ts";
import { BoundFilter, byPlace, CreateKeyRequest, KeyName, type KeyView, viewOf } from "./key-record.ts";
import { issue, type Keys, type KeysDependencies } from "./keys.ts";
import { invalid } from "./refusal.ts";

const { expires_at } = CreateKeyRequest.properties;

export const CalendarRequest = Type.Object(
  { name: KeyName, expires_at, filter: Type.Optional(BoundFilter) },
  { additionalProperties: false },
);
export type CalendarRequest = Static<typeof CalendarRequest>;

/** Revoked ones included: each is a key of the tenant, and none is ever removed. */
export const CALENDARS_PER_KEY_MAX = 100;

export interface Calendars {
  /** `request` is a checked body; its filter is one that the list of obligations takes. */
  create(options: { readonly by: Actor; readonly request: CalendarRequest }): ReturnType<Keys["create"]>;
  /** The feeds that this key created, oldest first. */
  list(principal: Principal): readonly KeyView[];
  /** Only its own: a feed of another key is answered as missing. */
  revoke: Keys["revoke"];
}

export const createCalendars = (dependencies: KeysDependencies & { readonly keys: Keys }): Calendars => {
  const { store, keys, now } = dependencies;
  const madeBy = ({ tenant, keyId }: Principal): readonly KeyView[] =>
    store
      .list(tenant)
      .filter(({ created_by, calendar_filter }) => created_by === keyId && calendar_filter !== undefined)
      .map(viewOf)
      .sort(byPlace);
  return {
    create: async ({ by, request }) => {
      const { principal } = by;
      const { tenant } = principal;
      const { name, filter: calendar_filter = {}, ...limits } = request;
      // Whoever may read obligations gets this scope anyway.
      const granted = withLimits(principal, { tenant, name, scopes: [], calendar_filter }, limits, now());
      if (granted.kind !== "ok") return granted;
      if (madeBy(principal).length >= CALENDARS_PER_KEY_MAX)
        return invalid(
          "",
          `This key has ${CALENDARS_PER_KEY_MAX} feeds, including revoked ones: use one of them, or ask a key manager.`,
          "too_many",
        );
      return issue(dependencies, by, { ...granted.rights, scopes: ["obligations:calendar"] });
    },
    list: madeBy,
    revoke: async ({ by, id }) => {
      if (!madeBy(by.principal).some((key) => key.id === id)) return { kind: "not_found" };
      return keys.revoke({ by, id });
    },
  };
};
