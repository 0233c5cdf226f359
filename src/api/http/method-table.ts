/** Which methods a path takes, computed from the routes. */

export interface MethodTable {
  allowed(path: string): readonly string[];
  /** Whether a route has exactly this path. Then no route with a parameter takes it, whatever the method. */
  isWrittenOut(path: string): boolean;
}

export const createMethodTable = (
  routes: readonly { readonly method: string; readonly path: string }[],
): MethodTable => {
  const patterns = routes.map(({ method, path }) => ({
    method,
    pattern: toPattern(path),
    isWrittenOut: !hasParameter(path),
  }));
  const writtenOut = new Set(
    routes.flatMap(({ path }) => (hasParameter(path) ? [] : withoutEndingSlash(path))),
  );
  const isWrittenOut = (path: string): boolean => writtenOut.has(withoutEndingSlash(path));
  return {
    isWrittenOut,
    allowed: (path) => {
      const only = isWrittenOut(path);
      const methods = patterns
        .filter((each) => (each.isWrittenOut || !only) && each.pattern.test(path))
        .map(({ method }) => method);
      const all = new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods);
      return all.size === 0 ? [] : [...all, "OPTIONS"].sort();
    },
  };
};

/** In the router's notation: `:name`, and `*` for any number of segments. */
export const hasParameter = (path: string): boolean => path.includes("/:") || path.includes("*");

const withoutEndingSlash = (path: string): string => (path.length > 1 ? path.replace(/\/$/, "") : path);

const toPattern = (path: string): RegExp => {
  const segments = path
    .split("/")
    .map((segment) => (segment === "*" ? ".+" : segment.startsWith(":") ? "[^/]+" : RegExp.escape(segment)));
  return new RegExp(`^${segments.join("/")}/?$`);
};
