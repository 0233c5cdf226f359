/** Who is signed in. The key itself stays in no storage of the browser: the service turns it into a cookie that scripts cannot read. */
import { signal } from "@preact/signals";
import { addressOf, apiAddress, go, place, safeNext } from "./address.ts";
import { mayOpen, type Seat } from "./screen-access.ts";
import type { Screen } from "./screen-names.ts";

export interface SignedIn extends Seat {
  readonly tenant: string;
  readonly key_id: string;
  readonly key_name?: string;
  readonly person?: string;
  readonly csrf_token?: string;
  readonly expires_at?: string;
}

/** Undefined until the service has said it. */
export const session = signal<SignedIn | "nobody" | "offline" | undefined>(undefined);

/** Often enough that a session in use never counts as idle. */
const RENEW_MS = 5 * 60_000;
const ASK_AGAIN_MS = 3_000;

export const readSession = async (): Promise<void> => {
  try {
    const response = await fetch(apiAddress("v1/session"));
    if (response.ok) session.value = (await response.json()).data;
    else if (response.status === 401 || response.status === 403) signedOut();
    else away();
  } catch {
    away();
  }
};

/** Whoever is signed in keeps the screen: its next question will say that there is no answer. */
const away = (): void => {
  if (session.value instanceof Object) return;
  session.value = "offline";
  setTimeout(readSession, ASK_AGAIN_MS);
};

/** Called where the service says so: the screen is kept for after the next sign-in. */
export const signedOut = (): void => {
  session.value = "nobody";
  const { screen, parameters } = place.value;
  if (screen === "sign-in") return;
  const next = addressOf(screen ?? "", Object.fromEntries(parameters));
  go(addressOf("sign-in", { next: next === "./" ? undefined : next }), { replaces: true });
};

export type SignInResult = "signed_in" | "no_key" | "no_scope" | "no_cookie" | "offline" | "not_recorded";

export const signIn = async (key: string, options: { readonly isOnce: boolean }): Promise<SignInResult> => {
  const address = apiAddress("v1/session", { once: options.isOnce ? "true" : undefined });
  try {
    const response = await fetch(address, { method: "POST", headers: { authorization: `Bearer ${key}` } });
    if (response.status === 401 || response.status === 404) return "no_key";
    if (response.status === 403) return "no_scope";
    if (!response.ok) return "not_recorded";
    const kept = await fetch(apiAddress("v1/session"));
    if (!kept.ok) return "no_cookie";
    session.value = (await kept.json()).data;
  } catch {
    return "offline";
  }
  go(safeNext(place.value.parameters.get("next")), { replaces: true });
  return "signed_in";
};

export const csrfToken = (): string =>
  session.value instanceof Object ? (session.value.csrf_token ?? "") : "";

export const may = (scope: string): boolean =>
  session.value instanceof Object && session.value.scopes.includes(scope);

/** For links, and for parts of a screen that ask for what another screen shows. */
export const maySee = (screen: Screen): boolean =>
  session.value instanceof Object && mayOpen(session.value, screen);

/** What is about the tenant as a whole is closed to seats that cover a part. */
export const seesWholeTenant = (): boolean =>
  session.value instanceof Object && session.value.covers === undefined;

export const signOut = async (): Promise<void> => {
  const request = { method: "DELETE", headers: { "x-csrf-token": csrfToken() } };
  const response = await fetch(apiAddress("v1/session"), request);
  const address = response.ok ? (await response.json()).data.continue_at : undefined;
  session.value = "nobody";
  if (address === undefined) go(addressOf("sign-in"));
  else location.assign(address);
};

export const keepSession = (): void => {
  setInterval(() => {
    if (session.value instanceof Object && document.visibilityState === "visible") readSession();
  }, RENEW_MS);
};
