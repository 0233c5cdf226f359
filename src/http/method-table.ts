/** Which methods a path takes, read from the routes themselves. */

export interface MethodTable {
  allowed(path: string): readonly string[];
}

export const createMethodTable = (
  routes: readonly { readonly method: string; readonly path: string }[],
): MethodTable => {
  const patterns = routes.map(({ method, path }) => ({ method, pattern: toPattern(path) }));
  return {
    allowed: (path) => {
      const methods = patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
      const all = new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods);
      return all.size === 0 ? [] : [...all, "OPTIONS"].sort();
    },
  };
};

const toPattern = (path: string): RegExp => {
  const segments = path
    .split("/")
    .map((segment) => (segment === "*" ? ".+" : segment.startsWith(":") ? "[^/]+" : RegExp.escape(segment)));
  return new RegExp(`^${segments.join("/")}/?$`);
};
