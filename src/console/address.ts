/**
 * Where the reader is: the screen and its parameters are the address, so every screen restores itself. All screens are one level below the
 * console's root, and ids are parameters: so addresses relative to the page work behind any path prefix, and no id is taken for a path.
 */
import { signal } from "@preact/signals";
import { SCREENS, type Screen } from "./screen-names.ts";

export interface Place {
  readonly screen: Screen | undefined;
  readonly parameters: URLSearchParams;
}

/** The folder of the page. The page is always one level below it. */
const ROOT = new URL("./", location.href);

const isScreen = (name: string): name is Screen => SCREENS.some((screen) => screen === name);

const placeOf = (url: URL): Place => {
  const name = url.pathname.slice(ROOT.pathname.length);
  return { screen: isScreen(name) ? name : undefined, parameters: url.searchParams };
};

export const place = signal<Place>(placeOf(new URL(location.href)));

export type Parameters = Readonly<Record<string, string | undefined>>;

/** An address for a link. Undefined and empty parameters are left out. */
export const addressOf = (screen: Screen, parameters: Parameters = {}): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value);
  const text = query.toString();
  return `./${screen}${text === "" ? "" : `?${text}`}`;
};

/** The address of this screen with some parameters changed. A filter leads to the first page again. */
export const addressHere = (changes: Parameters): string => {
  const { screen = "", parameters } = place.value;
  const kept = Object.fromEntries(parameters);
  return addressOf(screen, { ...kept, cursor: undefined, ...changes });
};

/** An address of the API, for requests and for files. */
export const apiAddress = (path: string, parameters: Parameters = {}): string =>
  new URL(addressOf("", parameters).replace("./", path), ROOT).href;

export const go = (address: string, options: { readonly replaces?: boolean } = {}): void => {
  const url = new URL(address, ROOT);
  if (options.replaces) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  arrive();
  if (!options.replaces) scrollTo(0, 0);
};

const arrive = (): void => {
  const { screen, parameters } = place.value;
  const next = placeOf(new URL(location.href));
  place.value = next;
  // As after loading a page, Tab goes on from the new content. Filters keep the focus where it is.
  if (screen !== next.screen || parameters.get("id") !== next.parameters.get("id"))
    document.getElementById("content")?.focus({ preventScroll: true });
};

/**
 * Where to go after signing in. Only a screen of this console: an address of another origin, another scheme or another path of this host
 * leads to the overview.
 */
export const safeNext = (next: string | null): string => {
  if (next === null || !URL.canParse(next, ROOT)) return addressOf("");
  const url = new URL(next, ROOT);
  const isOurs = url.origin === ROOT.origin && url.pathname.startsWith(ROOT.pathname);
  const { screen } = placeOf(url);
  if (!isOurs || screen === undefined || screen === "sign-in") return addressOf("");
  return `./${screen}${url.search}`;
};

/** Links inside the console change the address without loading the page again. */
export const followLinks = (): void => {
  addEventListener("popstate", arrive);
  document.addEventListener("click", (click) => {
    const isPlain = click.button === 0 && !(click.metaKey || click.ctrlKey || click.shiftKey || click.altKey);
    const link = click.target instanceof Element ? click.target.closest("a") : null;
    if (!isPlain || link === null || link.target !== "" || link.hasAttribute("download")) return;
    const url = new URL(link.href);
    const isOurs = url.origin === ROOT.origin && url.pathname.startsWith(ROOT.pathname);
    if (!isOurs || placeOf(url).screen === undefined || url.hash !== "") return;
    click.preventDefault();
    go(url.href);
  });
};
