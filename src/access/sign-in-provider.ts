/**
 * Signing in with OpenID Connect: code flow with PKCE, state and nonce, checked by openid-client. A sign-in's state waits in a sealed
 * cookie, so any front end can finish it.
 */
import * as oidc from "openid-client";
import { createKeyedMutex } from "../runtime/keyed-mutex.ts";
import type { RandomBytes } from "./api-key.ts";
import { isActive, type Principal } from "./authenticate.ts";
import { open, seal } from "./encrypted-text.ts";
import { type ApiKeyRecord, byPlace, PROVIDER_ID } from "./key-record.ts";
import type { KeyStore } from "./key-store.ts";
import type { Keys } from "./keys.ts";
import { SCOPES } from "./scopes.ts";
import { ROLES, type Role } from "./seats.ts";
import { isTenant } from "./tenant.ts";

export interface SignInSettings {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The claim of the ID token that names tenants and roles. */
  readonly rolesClaim: string;
  readonly redirectUri: URL;
}

/** Why nobody is signed in. The console has the words (src/console/sign-in-words.ts). */
export type SignInProblem =
  | "provider_away"
  | "provider_refused"
  | "provider_clock"
  | "provider_answer"
  | "sign_in_expired"
  | "no_role"
  | "seat_ended"
  | "not_recorded";

export interface SignInFailure {
  readonly kind: "failed";
  readonly problem: SignInProblem;
  readonly detail: string;
  readonly wish?: Wish;
}

export interface Wish {
  /** A screen of the console. */
  readonly next: string;
  readonly tenant?: string;
}

export interface Identified {
  readonly kind: "identified";
  readonly subject: string;
  /** Only if the provider verified it. */
  readonly email?: string;
  /** The value of the claim that names tenants and roles. */
  readonly roles: unknown;
  readonly wish: Wish;
}

export type SignInProvider = ReturnType<typeof createSignInProvider>;

interface Attempt {
  /** No API key stands behind an attempt: whoever begins one is still unknown. */
  readonly keyId: typeof PROVIDER_ID;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly until: number;
  readonly wish: Wish;
}

export const createSignInProvider = (dependencies: {
  readonly settings: SignInSettings;
  readonly now: () => Date;
  readonly randomBytes: RandomBytes;
}) => {
  const { settings, now, randomBytes } = dependencies;
  const { clientSecret, rolesClaim, redirectUri } = settings;
  const kind = { purpose: "prooftrail sign-in, version 1", secretOf: () => clientSecret } as const;
  const configuration = createConfiguration(settings, now);
  const attemptOf = (kept: string | undefined): Attempt | undefined => {
    const attempt = kept === undefined ? undefined : open<Attempt>(kept, kind);
    return attempt && now().getTime() < attempt.until ? attempt : undefined;
  };
  return {
    /** Where to send the browser, and its state meanwhile. */
    begin: async (
      wish: Wish,
    ): Promise<{ readonly kind: "begun"; readonly address: URL; readonly kept: string } | SignInFailure> => {
      const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
      const verifier = oidc.randomPKCECodeVerifier();
      const until = now().getTime() + SIGN_IN_MS_MAX;
      const attempt: Attempt = { keyId: PROVIDER_ID, state, nonce, verifier, until, wish };
      try {
        const address = oidc.buildAuthorizationUrl(await configuration(), {
          redirect_uri: redirectUri.href,
          scope: "openid email profile",
          code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
          code_challenge_method: "S256",
          state,
          nonce,
        });
        return { kind: "begun", address, kept: seal(attempt, { ...kind, randomBytes }) ?? "" };
      } catch (error) {
        return failureOf(error);
      }
    },
    /** `query` is what the provider sent the browser back with. */
    finish: async (kept: string | undefined, query: URLSearchParams): Promise<Identified | SignInFailure> => {
      const attempt = attemptOf(kept);
      if (attempt === undefined || query.get("state") !== attempt.state) return EXPIRED;
      const address = new URL(redirectUri);
      address.search = query.toString();
      try {
        const tokens = await oidc.authorizationCodeGrant(await configuration(), address, {
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          pkceCodeVerifier: attempt.verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        // idTokenExpected makes the library throw without one.
        if (claims === undefined) return EXPIRED;
        const { sub: subject, email, email_verified: isVerified } = claims;
        return {
          ...{ kind: "identified", subject, roles: claims[rolesClaim], wish: attempt.wish },
          ...(typeof email === "string" && isVerified === true && { email }),
        };
      } catch (error) {
        return { ...failureOf(error), wish: attempt.wish };
      }
    },
    /** Why nobody can sign in now, if known beforehand. */
    failure: (): Promise<SignInFailure | undefined> => configuration().then(() => undefined, failureOf),
    /** Where to sign out at the provider. Undefined if it has no such page, or does not answer. */
    signOutAddress: (backTo: URL): Promise<URL | undefined> =>
      configuration()
        .then((known) => oidc.buildEndSessionUrl(known, { post_logout_redirect_uri: backTo.href }))
        .catch(() => undefined),
  };
};

export const SIGN_IN_MS_MAX = 10 * 60 * 1000;
const PROVIDER_CLOCK_SECONDS_MAX = 60;
const PROVIDER_SECONDS_MAX = 5;
const PROVIDER_KNOWN_MS_MAX = 10_000;

/**
 * The provider's metadata is fetched again after some seconds, and its keys at every sign-in: so changed keys are
 * known, and whoever calls the start address often makes few requests to the provider.
 */
const createConfiguration = (settings: SignInSettings, now: () => Date) => {
  const { issuer, clientId, clientSecret } = settings;
  const execute = issuer.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
  let known: { readonly server: Promise<oidc.ServerMetadata>; readonly until: number } | undefined;
  const ask = async (): Promise<oidc.ServerMetadata> => {
    const options = { execute, timeout: PROVIDER_SECONDS_MAX };
    return (await oidc.discovery(issuer, clientId, clientSecret, undefined, options)).serverMetadata();
  };
  const server = async (): Promise<oidc.ServerMetadata> => {
    const time = now().getTime();
    known = known && time < known.until ? known : { server: ask(), until: time + PROVIDER_KNOWN_MS_MAX };
    return known.server.catch((error: unknown) => {
      known = undefined;
      throw error;
    });
  };
  return async (): Promise<oidc.Configuration> => {
    const metadata = await server();
    const takesPost = metadata.token_endpoint_auth_methods_supported?.includes("client_secret_post");
    const authentication = takesPost ? oidc.ClientSecretPost : oidc.ClientSecretBasic;
    const client = { [oidc.clockTolerance]: PROVIDER_CLOCK_SECONDS_MAX };
    const made = new oidc.Configuration(metadata, clientId, client, authentication(clientSecret));
    made.timeout = PROVIDER_SECONDS_MAX;
    // The signature is checked although the token comes over TLS from the provider itself (OpenID Connect Core §3.1.3.7).
    for (const extension of [...execute, oidc.enableNonRepudiationChecks]) extension(made);
    return made;
  };
};

const EXPIRED: SignInFailure = {
  kind: "failed",
  problem: "sign_in_expired",
  detail: "the browser has no cookie of this sign-in, or it is too old, or its state differs",
};

const failureOf = (error: unknown): SignInFailure => ({
  kind: "failed",
  problem: problemOf(error),
  detail: reasonsOf(error).join(": "),
});

const problemOf = (error: unknown): SignInProblem => {
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError)
    return "provider_refused";
  if (error instanceof oidc.WWWAuthenticateChallengeError) return "provider_refused";
  const code = error instanceof oidc.ClientError ? error.code : undefined;
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED") return "provider_clock";
  return code === undefined || NO_ANSWER.has(code) ? "provider_away" : "provider_answer";
};

/** No answer at all, or one from a proxy in the provider's place. */
const NO_ANSWER: ReadonlySet<string> = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
]);

/** What was thrown, and its causes. OAuth errors (RFC 6749 §5.2) have their description as a member. */
const reasonsOf = (error: unknown): readonly string[] => {
  if (error instanceof Response) return [`HTTP ${error.status}`];
  if (!(error instanceof Error)) return [];
  const described: unknown = Reflect.get(error, "error_description") ?? Reflect.get(error, "error");
  return [error.message, ...(typeof described === "string" ? [described] : []), ...reasonsOf(error.cause)];
};

/**
 * From a provider's claim about a person to their seat. The claim decides whether the person belongs to the tenant, and the role of a new
 * seat. An existing seat overrides it: somebody granted it, the log has it, and it may cover less or end earlier than a claim can say.
 */
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
