/**
 * Bun's `fetch` follows http_proxy, https_proxy, all_proxy and no_proxy; where both cases are set, small letters (measured with 1.4.5). It asks a
 * proxy for this machine too, which no proxy can reach.
 */
type Environment = Readonly<Record<string, string | undefined>>;

const LOOPBACK = "localhost,127.0.0.0/8,::1";

/** The value of no_proxy with which requests to this machine go directly. */
export const withoutLoopback = (environment: Environment): string =>
  [setting(environment, "no_proxy"), LOOPBACK].filter((part) => part !== undefined).join(",");

/** For messages: the proxy that a request to `url` goes through, and the variable that names it. */
export const proxyFor = (url: URL, environment: Environment): string | undefined => {
  const isDirect = (setting(environment, "no_proxy") ?? "")
    .split(/[\s,]+/)
    .some((name) => name === "*" || isHostOf(url, name));
  if (isDirect) return undefined;
  for (const name of [`${url.protocol.slice(0, -1)}_proxy`, "all_proxy"]) {
    const proxy = setting(environment, name);
    if (proxy !== undefined) return `${withoutPassword(proxy)} (${name})`;
  }
  return undefined;
};

const setting = (environment: Environment, name: string): string | undefined => {
  const value = environment[name] ?? environment[name.toUpperCase()];
  return value === "" ? undefined : value;
};

const isHostOf = ({ hostname, host }: URL, name: string): boolean => {
  const wanted = name.toLowerCase().replace(/^\*?\./, "");
  return wanted !== "" && (wanted === host || wanted === hostname || hostname.endsWith(`.${wanted}`));
};

const withoutPassword = (proxy: string): string => {
  const text = proxy.includes("://") ? proxy : `http://${proxy}`;
  return URL.canParse(text) ? new URL(text).origin : "not an address";
};
