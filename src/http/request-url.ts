/** Where the path begins in the URL of a request; without a Host, as HTTP/1.0 allows, the URL is the path alone. */
export const pathStartOf = (url: string): number =>
  url.startsWith("/") ? 0 : url.indexOf("/", "http://".length);

/** Path and query as they are understood. The host means nothing here, and need not be one: `10.0.0.256`, a port beyond 65535. */
export const requestUrl = (url: string): URL => new URL(`http://localhost${url.slice(pathStartOf(url))}`);
