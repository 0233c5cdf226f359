/**
 * Puts style and script into a page, so that it needs no other file and no network, with a policy that lets a browser run these two by their
 * hashes and nothing else. The policy is in the page, for a copy on disk, and beside it, for the header of the answer.
 */
import { createHash } from "node:crypto";
import type { VerifyPage } from "../api/http/dependencies.ts";

export const selfContained = ({
  page,
  style,
  script,
}: {
  readonly page: string;
  readonly style: string;
  /** Undefined if this runtime has no bundler. */
  readonly script: string | undefined;
}): VerifyPage | undefined => {
  if (script === undefined) return undefined;
  // Texts that would end the element, or hide its end (HTML §4.12.1.3), can stand only in strings, where the backslash means nothing.
  const inline = script.replaceAll(/<(?=\/script|!--)/gi, "<\\");
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(inline)}'`,
    `style-src '${hashOf(style)}'`,
    // The page starts a copy of its own script.
    "worker-src blob:",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const html = page
    .replace('content="POLICY"', () => `content="${policy}"`)
    .replace("/* STYLE */", () => style)
    .replace("/* SCRIPT */", () => inline);
  return { html, policy };
};

const hashOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;
