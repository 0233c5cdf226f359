import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { CONNECTION_IDLE_MS_MAX, HEAD_MS_MAX } from "../../limits.ts";
import { refuse, respond, send } from "../http/answers.ts";
import type { HttpDependencies } from "../http/dependencies.ts";
import { describeProblem, describeSchemas, TAGS } from "../http/openapi.ts";
import { contextOf } from "../http/request-context.ts";
import { DOCS_PAGE, pageHeaders } from "./pages.ts";

const DOCUMENT_PATH = "/docs/json";

export const docsRoutes = ({ docsAssets: assets, version }: HttpDependencies) => {
  /** The document, built once: half a megabyte takes 7 ms, and anybody may request it without a key (measured). */
  let documentText: string | undefined;
  return (
    new Elysia()
      .onBeforeHandle(({ request, set, route }) => {
        set.headers["x-request-id"] = contextOf(request).requestId;
        set.headers["cache-control"] = "no-store";
        if (route !== DOCUMENT_PATH || documentText === undefined) return undefined;
        return documentResponse(documentText);
      })
      .mapResponse(({ route, response }) => {
        if (route !== DOCUMENT_PATH || response instanceof Response) return undefined;
        documentText = JSON.stringify(response);
        return documentResponse(documentText);
      })
      .use(
        swagger({
          path: "/docs",
          specPath: DOCUMENT_PATH,
          // Paths with a dot are left out otherwise, and `/v1/obligations.ics` has one.
          excludeStaticFile: false,
          exclude: [/^\/docs/],
          documentation: documentation(version),
        }),
      )
      // Replaces the plugin's own page, which loads its script from a public network.
      .get("/docs", ({ request }) => respond(contextOf(request), send(HTML, DOCS_PAGE, HEADERS)), HIDDEN)
      .get(
        "/docs/assets/:name",
        ({ params, request }) => {
          const asset = assets.get(params.name);
          const found = asset && send(asset.mediaType, asset.bytes, KEPT);
          return respond(contextOf(request), found ?? refuse("not_found"));
        },
        HIDDEN,
      )
  );
};

const HTML = "text/html; charset=utf-8";
const HIDDEN = { detail: { hide: true } };
const KEPT = { "cache-control": "public, max-age=3600", "x-content-type-options": "nosniff" };
/** Swagger UI sets inline styles and data: images. */
const HEADERS = pageHeaders(
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'",
);

const documentResponse = (text: string): Response =>
  new Response(text, { headers: { "content-type": "application/json" } });

const documentation = (version: string) => ({
  info: {
    title: "Prooftrail",
    version,
    description: [
      "The audit log for AI systems that can prove itself. Send events about what your AI systems do, and read them years later. Every answer has an `X-Request-Id`.",
      "At `/docs` you can try read requests and the sandbox. Write requests have no button, because their example would stay in your log. Send your first events to the sandbox or from the command line.",
      "Errors are RFC 9457 problem details with a stable `code`. A method that a path does not support gets 405; `Allow` lists those it does.",
      "A request whose head (path, parameters and all headers) has more than 16 KiB or 198 headers gets a bare 431.",
      // Of Bun's server (pipelining: oven-sh/bun#38128 and #33664; measured on 1.4.5), held by test/http/bun-server.test.ts. Tried behind nginx 1.22 with
      // `proxy_ignore_client_abort on`, and behind haproxy 3.2 as in compose.yaml: there none of these limits is left.
      "The following applies only without a proxy such as nginx or haproxy in front.",
      "Send one request at a time per connection. A connection is closed without an answer when it carries another request before the first is answered, or when its sending side is closed before the answer. The request may still have taken effect: an event sent again is stored once, but a key that nobody has seen may exist (`GET /v1/keys`).",
      "`Expect: 100-continue` is answered with 100 only in lower case. With a capital C, as Java's HttpClient writes it, the service waits for the body, and answers 408 if none comes.",
      "No trailer fields may follow a chunked body, and no line break any body. If the `Trailer` header announces the fields, nothing is done and the answer is 400; otherwise the connection is closed with a bare 400, and the request may have taken effect.",
      `A connection is closed when a request's head is not complete within ${HEAD_MS_MAX / 1000} s, or when nothing arrives for ${CONNECTION_IDLE_MS_MAX / 1000} s.`,
    ].join("\n\n"),
    license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
  },
  tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  components: {
    get schemas() {
      return describeSchemas();
    },
    // Belongs to no operation: it answers unsupported methods.
    responses: { MethodNotAllowed: describeProblem("method_not_allowed") },
    securitySchemes: {
      apiKey: {
        type: "http" as const,
        scheme: "bearer",
        description: "An API key, such as `ptk_…`, or the admin key. Sent as `Authorization: Bearer <key>`.",
      },
    },
  },
});
