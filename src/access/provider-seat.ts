/**
 * From a provider's claim about a person to their seat. The claim decides whether the person belongs to the tenant, and the role of a new
 * seat. An existing seat overrides it: somebody granted it, the log has it, and it may cover less or end earlier than a claim can say.
 */
import { createKeyedMutex } from "../runtime/keyed-mutex.ts";
import type { Principal } from "./authenticate.ts";
import { type ApiKeyRecord, isActive, PROVIDER_ID } from "./key-record.ts";
import type { KeyStore } from "./key-store.ts";
import type { Keys } from "./keys.ts";
import { byPlace } from "./list-order.ts";
import { SCOPES } from "./scopes.ts";
import { ROLES, type Role } from "./seats.ts";
import type { Identified, SignInFailure, SignInProblem } from "./sign-in-provider.ts";
import { isTenant } from "./tenant.ts";

export type FindSeat = (
  person: Identified,
  requestId: string,
) => Promise<{ readonly kind: "seat"; readonly keyId: string } | SignInFailure>;

export const createFindSeat = (dependencies: {
  readonly keys: Pick<Keys, "create">;
  readonly keyStore: Pick<KeyStore, "list">;
  readonly now: () => Date;
}): FindSeat => {
  const { keys, keyStore, now } = dependencies;
  const turns = createKeyedMutex();
  const find = async (
    { tenant, role }: Grant,
    person: Identified,
    requestId: string,
  ): ReturnType<FindSeat> => {
    const seats = keyStore.list(tenant).filter((record) => isOf(record, person));
    const active = seats.filter((record) => isActive(record, now())).toSorted(byPlace);
    const seat = active.findLast((record) => record.replaced_by === undefined) ?? active.at(-1);
    if (seat) return { kind: "seat", keyId: seat.id };
    if (seats.length > 0)
      return refused("seat_ended", `the seat ${seats.at(-1)?.id} was revoked or has expired`);
    const made = await keys.create({
      by: { principal: providerIn(tenant), requestId },
      request: { tenant, role, person: person.email ?? person.subject },
    });
    if (made.kind === "created") return { kind: "seat", keyId: made.key.id };
    if (made.kind === "unavailable") return refused("not_recorded", made.detail);
    const why = made.kind === "invalid" ? made.problems.map(({ message }) => message).join(" ") : made.kind;
    return refused("no_role", `no seat with the role ${role} was created in the tenant ${tenant}: ${why}`);
  };
  return async (person, requestId) => {
    const grant = grantOf(person);
    if (grant === undefined) return refused("no_role", `the claim is ${JSON.stringify(person.roles)}`);
    // Two concurrent sign-ins must not create two seats.
    const found = await turns(`${grant.tenant} ${person.subject}`, () => find(grant, person, requestId));
    return found.kind === "overloaded" ? refused("not_recorded", "too many sign-ins at once") : found;
  };
};

interface Grant {
  readonly tenant: string;
  readonly role: Role;
}

/** The requested tenant, else the first by name; in it the role that comes first in ROLES. */
const grantOf = ({ roles, wish }: Identified): Grant | undefined => {
  const values: readonly unknown[] = Array.isArray(roles) ? roles : [roles];
  const grants = values.flatMap((value): readonly Grant[] => {
    const [tenant = "", name, ...more] = typeof value === "string" ? value.split(":") : [];
    const role = ROLES.find((known) => known === name);
    return role !== undefined && more.length === 0 && isTenant(tenant) ? [{ tenant, role }] : [];
  });
  const tenant = wish.tenant ?? grants.map((grant) => grant.tenant).sort()[0];
  const role = ROLES.find((known) => grants.some((grant) => grant.tenant === tenant && grant.role === known));
  return tenant !== undefined && role !== undefined ? { tenant, role } : undefined;
};

const isOf = ({ role, person }: ApiKeyRecord, { subject, email }: Identified): boolean =>
  role !== undefined &&
  person !== undefined &&
  (person === subject || (email !== undefined && lowerCase(person) === lowerCase(email)));

/** A provider may spell an address in another case tomorrow; a revoked seat must still be found. ASCII only: more would be a guess. */
const lowerCase = (address: string): string => address.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

const providerIn = (tenant: string): Principal => ({
  keyId: PROVIDER_ID,
  tenant,
  scopes: SCOPES,
  isAdmin: false,
});

const refused = (problem: SignInProblem, detail: string): SignInFailure => ({
  kind: "failed",
  problem,
  detail,
});
