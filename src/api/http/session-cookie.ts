/** The cookies of a session and of a sign-in, and the header that goes with a session's writes. */
import { isIP } from "node:net";
import { SIGN_IN_MS_MAX } from "../../access/sign-in-provider.ts";

export const CSRF_HEADER = "x-csrf-token";

/** Browsers accept this name only with Secure, from the host itself and for all of its paths (RFC 6265bis §4.1.3.2). */
const SECURE_NAME = "__Host-prooftrail";
/** For plain HTTP on this machine, where some browsers drop Secure cookies. */
const LOOPBACK_NAME = "prooftrail-loopback";

const ATTRIBUTES = "Path=/; HttpOnly; SameSite=Strict";

/** A session cookie: it ends with the browser. Its time limits are sealed in its value. */
export const sessionCookie = (request: Request, value: string): string =>
  cookieText(isLoopback(request), "", `${value}; ${ATTRIBUTES}`);

/** The same after signing in with a provider, which sends the browser to `address`: such a request has no Origin. */
export const providerSessionCookie = (address: URL, value: string): string =>
  cookieText(isPlainLoopback(address), "", `${value}; ${ATTRIBUTES}`);

/** What a sign-in needs when the provider sends the browser back. Strict cookies are not sent then. */
export const signInCookie = (address: URL, value: string): string =>
  cookieText(isPlainLoopback(address), SIGN_IN, `${value}; ${LAX}; Max-Age=${SIGN_IN_MS_MAX / 1000}`);

export const endedSignInCookie = (address: URL): string =>
  cookieText(isPlainLoopback(address), SIGN_IN, `; ${LAX}; Max-Age=0`);

export const signInCookieOf = (address: URL, headers: Headers): string | undefined =>
  cookieNamed(
    headers.get("cookie") ?? "",
    (isPlainLoopback(address) ? LOOPBACK_NAME : SECURE_NAME) + SIGN_IN,
  );

const SIGN_IN = "-sign-in";
const LAX = ATTRIBUTES.replace("Strict", "Lax");

const cookieText = (isLoopback: boolean, suffix: string, rest: string): string =>
  isLoopback ? `${LOOPBACK_NAME}${suffix}=${rest}` : `${SECURE_NAME}${suffix}=${rest}; Secure`;

/** Removes both, because a browser may have used both ways. */
export const endedCookies: readonly string[] = [
  `${LOOPBACK_NAME}=; ${ATTRIBUTES}; Max-Age=0`,
  `${SECURE_NAME}=; ${ATTRIBUTES}; Secure; Max-Age=0`,
];

/** A neighbouring host can plant a cookie without the prefix, so that name counts only on loopback. */
export const sessionCookieOf = (headers: Headers): string | undefined => {
  const cookies = headers.get("cookie");
  if (cookies === null) return undefined;
  return (
    cookieNamed(cookies, SECURE_NAME) ??
    (isDirectLoopback(headers) ? cookieNamed(cookies, LOOPBACK_NAME) : undefined)
  );
};

const cookieNamed = (cookies: string, name: string): string | undefined =>
  cookies
    .split(/; */)
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.slice(name.length + 1);

/**
 * What the browser itself says, because a proxy may send a Host of its own. A GET has no Origin: a renewed cookie keeps its name,
 * because of two, the stale one would be read.
 */
const isLoopback = ({ headers }: Request): boolean => {
  const origin = headers.get("origin");
  if (!isDirectLoopback(headers)) return false;
  if (origin !== null) return URL.canParse(origin) && isPlainLoopback(new URL(origin));
  const cookies = headers.get("cookie") ?? "";
  return cookieNamed(cookies, SECURE_NAME) === undefined && cookieNamed(cookies, LOOPBACK_NAME) !== undefined;
};

const isDirectLoopback = (headers: Headers): boolean => {
  const host = `http://${headers.get("host") ?? ""}`;
  const isForwarded = headers.get("x-forwarded-proto") === "https";
  return !isForwarded && URL.canParse(host) && isPlainLoopback(new URL(host));
};

const isPlainLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === "http:" &&
  (hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127.")));
