/**
 * Where the path begins in a request's URL. Without a Host, as HTTP/1.0 allows, the URL is the path alone. Deno uses the scheme that the
 * client names, which is `https` behind an HTTP/2 proxy (measured).
 */
export const pathStartOf = (url: string): number => {
  if (url.startsWith("/")) return 0;
  const start = url.indexOf("/", url.indexOf("//") + "//".length);
  return start === -1 ? url.length : start;
};

/** Path and query of a request. Its host is ignored, because it may be invalid: `10.0.0.256`, a port beyond 65535. */
export const requestUrl = (url: string): URL => new URL(`http://localhost${url.slice(pathStartOf(url))}`);
