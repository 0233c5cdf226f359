/**
 * Signing in with OpenID Connect. Both addresses are for browsers, so every answer leads to a page of the console, which says what went wrong.
 * The session's cookie is Strict and so not sent with the redirect from the provider to that page; the page itself needs none, and its
 * requests send it.
 */

import { authenticateById } from "../../access/authenticate.ts";
import { sealSession, startSession } from "../../access/session.ts";
import type { SignInFailure, SignInSettings, Wish } from "../../access/sign-in-provider.ts";
import { invalid, refuse as refusal, respond } from "../http/answers.ts";
import type { Dependencies, SignIn } from "../http/dependencies.ts";
import { allOf, tenant as tenantAsked, text } from "../http/parameters.ts";
import { readQuery } from "../http/query.ts";
import { contextOf, type RequestContext, requestUrl } from "../http/request-context.ts";
import { hidden, type Route } from "../http/route.ts";
import {
  endedSignInCookie,
  providerSessionCookie,
  signInCookie,
  signInCookieOf,
} from "../http/session-cookie.ts";
import { CONSOLE_PATHS } from "./pages.ts";

const START_PATH = "/v1/session/oidc";
export const CALLBACK_PATH = `${START_PATH}/callback`;

export const signInRoutes = ({ signIn, ...dependencies }: Dependencies): readonly Route[] => {
  const route = (path: string, answer: (asked: Asked) => Promise<Response>): Route =>
    hidden(path, ({ request }) => {
      const context = contextOf(request);
      return signIn === undefined
        ? respond(context, refusal("not_found", NOT_SET_UP))
        : answer({ ...dependencies, ...signIn, request, context });
    });
  return [route(START_PATH, start), route(CALLBACK_PATH, finish)];
};

type Asked = SignIn &
  Omit<Dependencies, "signIn"> & { readonly request: Request; readonly context: RequestContext };

const WISH = allOf({ next: text("next", ""), tenant: tenantAsked("") });

const start = async (asked: Asked): Promise<Response> => {
  const { context, request, provider, settings } = asked;
  const query = readQuery(request.url);
  const { next, tenant } = WISH.read(query);
  const errors = query.errors();
  if (errors.length > 0) return respond(context, invalid(errors));
  const wish = { next: screenOf(next, consoleOf(settings)), ...(tenant !== undefined && { tenant }) };
  const begun = await provider.begin(wish);
  if (begun.kind === "failed") return refuse(asked, begun, wish);
  return redirect(context, begun.address, [signInCookie(settings.redirectUri, begun.kept)]);
};

const finish = async (asked: Asked): Promise<Response> => {
  const { context, request, provider, settings, findSeat } = asked;
  const kept = signInCookieOf(settings.redirectUri, request.headers);
  const person = await provider.finish(kept, requestUrl(request.url).searchParams);
  if (person.kind === "failed") return refuse(asked, person, person.wish);
  const seat = await findSeat(person, context.requestId);
  if (seat.kind === "failed") return refuse(asked, seat, person.wish);
  const cookie = await sessionOf(asked, seat.keyId);
  if (typeof cookie !== "string") return refuse(asked, cookie, person.wish);
  const { redirectUri } = settings;
  const cookies = [providerSessionCookie(redirectUri, cookie), endedSignInCookie(redirectUri)];
  return redirect(context, new URL(person.wish.next, consoleOf(settings)), cookies);
};

/** The value of the cookie, once the log has the sign-in. */
const sessionOf = async (asked: Asked, keyId: string): Promise<string | SignInFailure> => {
  const { context, settings, keyStore, recorder, now, randomBytes } = asked;
  const { issuer, clientSecret: signInSecret } = settings;
  const seat = authenticateById(keyId, keyStore, now());
  if (seat.kind !== "principal") return SEAT_ENDED;
  const { principal } = seat;
  context.principal = principal;
  const details = { key_id: keyId, issuer: issuer.href };
  const recorded = await recorder.carryOut({
    by: { principal, requestId: context.requestId },
    action: { type: "system.session_started", tenant: principal.tenant, details },
    work: async () => ({ kind: "written" }),
  });
  if (recorded.kind !== "written")
    return { kind: "failed", problem: "not_recorded", detail: "the log did not take the record of it" };
  const keys = { get: keyStore.get, admin: keyStore.admin, signInSecret };
  return sealSession(startSession({ keyId }, now(), randomBytes), keys, randomBytes) ?? SEAT_ENDED;
};

const SEAT_ENDED: SignInFailure = {
  kind: "failed",
  problem: "seat_ended",
  detail: "the seat ended during the sign-in",
};

/** To the page of signing in. A sign-in counts once, whatever became of it. */
const refuse = (
  { context, settings, logger }: Asked,
  { problem: reason, detail }: SignInFailure,
  wish: Wish | undefined,
): Response => {
  logger.warn("a sign-in was refused", { request_id: context.requestId, code: reason, detail });
  const page = new URL("sign-in", consoleOf(settings));
  page.searchParams.set("problem", reason);
  if (wish?.next) page.searchParams.set("next", `./${wish.next}`);
  return redirect(context, page, [endedSignInCookie(settings.redirectUri)]);
};

const redirect = ({ requestId }: RequestContext, location: URL, cookies: readonly string[]): Response => {
  const headers = new Headers({
    location: location.href,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-request-id": requestId,
  });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
};

/** The address of the console as browsers see it, with a slash at its end. */
export const consoleOf = ({ redirectUri }: SignInSettings): URL =>
  new URL(redirectUri.href.slice(0, 1 - CALLBACK_PATH.length));

/** It travels in a cookie, of which browsers keep 4096 bytes (RFC 6265 §6.1). */
const NEXT_CHARACTERS_MAX = 2000;

/** A screen of this console with its parameters; the overview for any other address. Relative to the console. */
const screenOf = (next: string | undefined, root: URL): string => {
  if (next === undefined || next.length > NEXT_CHARACTERS_MAX || !URL.canParse(next, root.href)) return "";
  const { origin, pathname, search } = new URL(next, root);
  const screen = pathname.slice(root.pathname.length);
  const isOurs = origin === root.origin && pathname.startsWith(root.pathname) && screen !== "sign-in";
  return isOurs && CONSOLE_PATHS.some((path) => path === `/${screen}`) ? screen + search : "";
};

const NOT_SET_UP =
  "Signing in with OpenID Connect is not set up here: the operator sets OIDC_ISSUER and what belongs to it. Sign in with an API key.";
