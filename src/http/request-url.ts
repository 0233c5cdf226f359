/**
 * Where the path begins in the URL of a request; without a Host, as HTTP/1.0 allows, the URL is the path alone. Deno gives the scheme that the client
 * names, which behind a proxy that speaks HTTP/2 is `https` (measured).
 */
export const pathStartOf = (url: string): number => {
  if (url.startsWith("/")) return 0;
  const start = url.indexOf("/", url.indexOf("//") + "//".length);
  return start === -1 ? url.length : start;
};

/** Path and query as they are understood. The host means nothing here, and need not be one: `10.0.0.256`, a port beyond 65535. */
export const requestUrl = (url: string): URL => new URL(`http://localhost${url.slice(pathStartOf(url))}`);
