/** Which methods a path takes, computed from the routes. */

export interface MethodTable {
  allowed(path: string): readonly string[];
  /** Whether a route has exactly this path. Then no route with a parameter takes it, whatever the method. */
  isWrittenOut(path: string): boolean;
}

export const createMethodTable = (
  routes: readonly { readonly method: string; readonly path: string }[],
): MethodTable => {
  const patterns = routes.map(({ method, path }) => ({ method, path, pattern: toPattern(path) }));
  const takenBy = (path: string) => patterns.filter(({ pattern }) => pattern.test(path));
  const writtenOut = (path: string) => takenBy(path).filter((each) => !hasParameter(each.path));
  return {
    isWrittenOut: (path) => writtenOut(path).length > 0,
    allowed: (path) => {
      const exact = writtenOut(path);
      const methods = (exact.length > 0 ? exact : takenBy(path)).map(({ method }) => method);
      if (methods.length === 0) return [];
      return [...new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"])].sort();
    },
  };
};

/** In the router's notation: `:name`, and `*` for any number of segments. */
export const hasParameter = (path: string): boolean => path.includes("/:") || path.includes("*");

const toPattern = (path: string): RegExp => {
  const segments = path
    .split("/")
    .map((segment) => (segment === "*" ? ".+" : segment.startsWith(":") ? "[^/]+" : RegExp.escape(segment)));
  return new RegExp(`^${segments.join("/")}/?$`);
};
