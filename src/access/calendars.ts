/**
 * Calendar feeds. Calendar programs send no header, so the token stands in the address of the feed: a key that can read the feed and nothing
 * else, bound to a filter. Whoever may read obligations makes one, and lists and revokes their own; `keys:manage` reaches all of them.
 */
import { type Static, Type } from "@sinclair/typebox";
import { createRequestCheck } from "../event/request/check.ts";
import type { Actor } from "./action.ts";
import { hashSecret, makeApiKey } from "./api-key.ts";
import type { Principal } from "./authenticate.ts";
import { depthOver, excessOver, expiryOf, grantedLimits } from "./grant.ts";
import {
  type ApiKeyRecord,
  BoundFilter,
  CreateKeyRequest,
  KeyName,
  type KeyView,
  viewOf,
} from "./key-record.ts";
import type { KeyStore } from "./key-store.ts";
import type { Keys, KeysDependencies } from "./keys.ts";
import { byPlace } from "./place.ts";
import type { Scope } from "./scopes.ts";

const { expires_at } = CreateKeyRequest.properties;

export const CalendarRequest = Type.Object(
  { name: KeyName, expires_at, filter: Type.Optional(BoundFilter) },
  { additionalProperties: false },
);
export type CalendarRequest = Static<typeof CalendarRequest>;

export const checkCalendarRequest = createRequestCheck(CalendarRequest);

/** Revoked ones included: each is a key of the tenant, and none is ever removed. */
export const CALENDARS_PER_KEY_MAX = 100;

const SCOPE: Scope = "obligations:calendar";

export interface Calendars {
  /** `request` is a checked body; its filter is one that the list of obligations takes. */
  create(options: { readonly by: Actor; readonly request: CalendarRequest }): ReturnType<Keys["create"]>;
  /** The feeds that this key made, oldest first. */
  list(principal: Principal): readonly KeyView[];
  /** Only its own: a feed of another key is answered as one that does not exist. */
  revoke: Keys["revoke"];
}

export const createCalendars = (dependencies: KeysDependencies & { readonly keys: Keys }): Calendars => {
  const { store, keys } = dependencies;
  return {
    create: (options) => create(dependencies, options),
    list: (principal) => madeBy(principal, store).map(viewOf).sort(byPlace),
    revoke: async ({ by, id }) => {
      if (!madeBy(by.principal, store).some((record) => record.id === id)) return { kind: "not_found" };
      const scopes = [...by.principal.scopes, "keys:manage" as const];
      return keys.revoke({ by: { ...by, principal: { ...by.principal, scopes } }, id });
    },
  };
};

const create = async (
  { store, recorder, now, randomBytes, keyPrefix }: KeysDependencies,
  { by, request }: Parameters<Calendars["create"]>[0],
): ReturnType<Keys["create"]> => {
  const { principal } = by;
  const { tenant, keyId } = principal;
  const time = now();
  const expiry = expiryOf(request.expires_at, time);
  if (expiry.kind === "invalid") return expiry;
  const limits = grantedLimits(principal, { expiresAt: expiry.expiresAt, rateLimit: undefined });
  // The scope is given to whoever may read obligations anyway.
  const excess = excessOver(principal, { tenant, scopes: [], ...limits }) ?? depthOver(principal, limits);
  if (excess) return excess;
  if (madeBy(principal, store).length >= CALENDARS_PER_KEY_MAX) {
    const message = `This key has made ${CALENDARS_PER_KEY_MAX} feeds, revoked ones included: use one of them, or ask who manages keys.`;
    return { kind: "invalid", problems: [{ path: "", code: "too_many", message }] };
  }
  const made = makeApiKey(randomBytes, keyPrefix);
  const granted = {
    scopes: [SCOPE],
    ...(limits.expiresAt !== undefined && { expires_at: limits.expiresAt }),
    ...(limits.rateLimit !== undefined && { rate_limit: limits.rateLimit }),
  };
  const record: ApiKeyRecord = {
    id: made.id,
    tenant,
    name: request.name,
    ...granted,
    secret_hash: hashSecret(made.secret),
    created_at: time.toISOString(),
    created_by: keyId,
    calendar_filter: request.filter ?? {},
  };
  const write = await recorder.carryOut({
    by,
    action: { type: "system.key_created", tenant, details: { key_id: made.id, ...granted } },
    work: () => store.create(record),
  });
  if (write.kind === "conflict") return { kind: "unavailable", detail: "the id of the new key is taken" };
  if (write.kind !== "written") return write;
  return { kind: "created", key: viewOf(record), apiKey: made.text };
};

const madeBy = ({ tenant, keyId }: Principal, store: Pick<KeyStore, "list">): readonly ApiKeyRecord[] =>
  store
    .list(tenant)
    .filter(({ created_by, calendar_filter }) => created_by === keyId && calendar_filter !== undefined);
