/** The page at /verify: without a key and without a request, because all of it runs in the browser. Every bundle contains the same page. */
import { Elysia } from "elysia";
import { problem } from "../http/problem.ts";
import { contextOf } from "../http/request-context.ts";

export interface VerifyPage {
  /** One file with everything in it. */
  readonly html: string;
  /** Its Content-Security-Policy. */
  readonly policy: string;
}

export const verifyPageRoutes = (page: VerifyPage | undefined) =>
  new Elysia().get(
    "/verify",
    ({ request }) => {
      const context = contextOf(request);
      if (page === undefined) {
        const detail = "This page needs the service to run on Bun. `prooftrail verify` does the same.";
        return problem(context, "not_found", { detail });
      }
      return new Response(page.html, {
        headers: {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": `${page.policy}; frame-ancestors 'none'`,
          "referrer-policy": "no-referrer",
          "cache-control": "no-store",
          "x-request-id": context.requestId,
          "x-content-type-options": "nosniff",
        },
      });
    },
    { detail: { hide: true } },
  );
