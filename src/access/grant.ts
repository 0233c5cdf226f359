/** The rights of a new key: those requested, of which nobody grants more than they have. */
import { createRequestCheck } from "../event/request/check.ts";
import { type Principal, reaches } from "./authenticate.ts";
import { type ApiKeyRecord, CreateKeyRequest, EXPIRY_EXPECTED } from "./key-record.ts";
import { allInvalid, type InsufficientScope, type Invalid, invalid, type OtherTenant } from "./refusal.ts";
import { ROLE_SCOPES, ROLES } from "./seats.ts";
import { instantOf } from "./utc-time.ts";

export type Rights = Omit<ApiKeyRecord, "id" | "secret_hash" | "created_at" | "created_by">;
type Limits = Pick<ApiKeyRecord, "expires_at" | "rate_limit">;
type Refused = InsufficientScope | OtherTenant | Invalid;
export type Granted = { readonly kind: "ok"; readonly rights: Rights } | Refused;

const checkCreateKeyRequest = createRequestCheck(CreateKeyRequest);

/** `request` is a parsed body, see CreateKeyRequest. */
export const requestedRights = (principal: Principal, request: unknown, now: Date): Granted => {
  const checked = checkCreateKeyRequest(request);
  if (checked.kind === "invalid") return checked;
  const { tenant = principal.tenant, name, role, person, scopes, covers, ...limits } = checked.request;
  const [from, to] = [covers?.from, covers?.to].map((time) => time && instantOf(time));
  const refusal = seatRefusal(checked.request, from, to);
  if (refusal) return refusal;
  const rights = {
    tenant,
    ...(name !== undefined && { name }),
    scopes: role === undefined ? (scopes ?? []) : [...ROLE_SCOPES[role]],
    ...(role !== undefined && { role }),
    ...(person !== undefined && { person }),
    ...(covers && { covers: { ...covers, ...(from && { from }), ...(to && { to }) } }),
  };
  return withLimits(principal, rights, limits, now);
};

const seatRefusal = (
  { role, scopes, covers }: CreateKeyRequest,
  from: string | undefined,
  to: string | undefined,
): Invalid | undefined => {
  const problems: Invalid[] = [];
  if (role === undefined && scopes === undefined) problems.push(invalid("/scopes", NEITHER, "required"));
  if (role !== undefined && scopes !== undefined) problems.push(invalid("/scopes", BOTH));
  if (covers !== undefined && role !== "auditor") problems.push(invalid("/covers", NOT_AN_AUDITOR));
  if (covers !== undefined && Object.keys(covers).length === 0)
    problems.push(invalid("/covers", COVERS_NOTHING));
  if (covers?.asset_ids?.some((id) => !id.isWellFormed()))
    problems.push(invalid("/covers/asset_ids", NOT_UNICODE));
  for (const [name, instant] of [["from", from] as const, ["to", to] as const])
    if (covers?.[name] !== undefined && instant === undefined)
      problems.push(invalid(`/covers/${name}`, `covers/${name} is not an existing day.`));
  if (from && to && from >= to) problems.push(invalid("/covers/from", NO_TIME_BETWEEN));
  return allInvalid(problems);
};

const NEITHER = `scopes is required: send what the key may do, or send role instead, one of ${ROLES.join(", ")}.`;
const BOTH =
  "A role gives the key its scopes: omit scopes to create a seat with the role, or omit role to create a key with these scopes.";
const NOT_AN_AUDITOR = "Only an auditor's seat covers a part: omit covers, or send the role auditor.";
const COVERS_NOTHING =
  "covers is empty: send asset_ids, from or to, or omit it for a seat that covers the whole tenant.";
const NOT_UNICODE = "covers/asset_ids has a text with half a character: send whole Unicode characters.";
const NO_TIME_BETWEEN = "covers/from is not before covers/to: send the earlier time in from.";

/** The rights with the requested limits; for those omitted, the principal's own. */
export const withLimits = (
  principal: Principal,
  rights: Omit<Rights, keyof Limits>,
  asked: Limits,
  now: Date,
): Granted => {
  const sent = asked.expires_at;
  const instant = sent === undefined ? undefined : instantOf(sent);
  if (sent !== undefined && (instant === undefined || Date.parse(instant) <= now.getTime()))
    return invalid("/expires_at", `expires_at is not valid: send ${EXPIRY_EXPECTED}.`);
  const expires_at = instant ?? principal.expiresAt;
  const rate_limit = { ...principal.rateLimit, ...asked.rate_limit };
  const granted = {
    ...rights,
    ...(expires_at !== undefined && { expires_at }),
    ...(Object.keys(rate_limit).length > 0 && { rate_limit }),
  };
  return excessOver(principal, granted) ?? { kind: "ok", rights: granted };
};

/** How the rights exceed the principal's own; undefined if they do not. The admin key is never exceeded. */
export const excessOver = (principal: Principal, rights: Rights): Refused | undefined => {
  if (principal.isAdmin) return undefined;
  const scope = rights.scopes.find((each) => !principal.scopes.includes(each));
  if (scope !== undefined) return { kind: "insufficient_scope", scope };
  if (!reaches(principal, rights.tenant)) return { kind: "other_tenant", path: "/tenant" };
  const problems: Invalid[] = [];
  const beyond = (path: string, message: string): unknown =>
    problems.push(invalid(path, message, "exceeds_own"));
  if (isAbove(timeOf(rights.expires_at), timeOf(principal.expiresAt)))
    beyond("/expires_at", `The key would outlive its creator: send a time up to ${principal.expiresAt}.`);
  for (const name of ["requests_per_second", "events_per_second"] as const) {
    const own = principal.rateLimit?.[name];
    if (isAbove(rights.rate_limit?.[name], own))
      beyond(`/rate_limit/${name}`, `The limit is above that of the creating key: send at most ${own}.`);
  }
  return allInvalid(problems);
};

/** Undefined means no bound, which is above every number. */
const isAbove = (value: number | undefined, bound: number | undefined): boolean =>
  bound !== undefined && (value === undefined || value > bound);

const timeOf = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time);
