// What would write to the log, to keys or to retention cannot be tried out here: its example would stay in the log.
const canBeTried = (path, method) =>
  method === "get" || path === "/v1/classify" || path.startsWith("/v1/sandbox/");
const withoutWrites = () => ({
  statePlugins: {
    spec: { wrapSelectors: { allowTryItOutFor: () => (_state, path, method) => canBeTried(path, method) } },
  },
});

// Starts Swagger UI on the document that this service makes from its own schemas. No validator badge: it would call out.
window.SwaggerUIBundle({
  url: "./docs/json",
  dom_id: "#swagger-ui",
  plugins: [withoutWrites],
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  persistAuthorization: false,
  // The document has the paths of the service, which may stand below a path of its proxy.
  requestInterceptor: (request) => {
    const { pathname, search } = new URL(request.url, location.origin);
    if (pathname.startsWith("/v1/")) request.url = new URL(`.${pathname}${search}`, location.href).href;
    return request;
  },
});

// Swagger UI has dark colours, and asks nobody whether they are wanted.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
