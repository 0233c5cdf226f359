/** The cookie of a session, and the header that goes with its writes. */
import { isIP } from "node:net";

export const CSRF_HEADER = "x-csrf-token";

/** Browsers take this name only with Secure, from the host itself and for all of its paths (RFC 6265bis §4.1.3.2). */
const SECURE_NAME = "__Host-prooftrail";
/** For plain HTTP on this machine, where some browsers keep no cookie with Secure. */
const LOOPBACK_NAME = "prooftrail-loopback";

const ATTRIBUTES = "Path=/; HttpOnly; SameSite=Strict";

/** A session cookie: it goes with the browser. The limits in time are sealed in its value. */
export const sessionCookie = (request: Request, value: string): string =>
  isLoopback(request)
    ? `${LOOPBACK_NAME}=${value}; ${ATTRIBUTES}`
    : `${SECURE_NAME}=${value}; ${ATTRIBUTES}; Secure`;

/** Removes both, because a browser may have met the service in both ways. */
export const endedCookies: readonly string[] = [
  `${LOOPBACK_NAME}=; ${ATTRIBUTES}; Max-Age=0`,
  `${SECURE_NAME}=; ${ATTRIBUTES}; Secure; Max-Age=0`,
];

/** A neighbouring host can plant a cookie without the prefix, so that name counts on loopback alone. */
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

/** What the browser itself says, because a proxy may send a Host of its own. */
const isLoopback = ({ headers }: Request): boolean => {
  const origin = headers.get("origin");
  return (
    origin !== null && URL.canParse(origin) && isPlainLoopback(new URL(origin)) && isDirectLoopback(headers)
  );
};

const isDirectLoopback = (headers: Headers): boolean => {
  const host = `http://${headers.get("host") ?? ""}`;
  const isForwarded = headers.get("x-forwarded-proto") === "https";
  return !isForwarded && URL.canParse(host) && isPlainLoopback(new URL(host));
};

const isPlainLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === "http:" &&
  (hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127.")));
