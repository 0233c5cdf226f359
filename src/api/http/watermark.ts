/** Adds the sandbox's watermark at the one place that every answer passes, so no route and no error can miss it. */
import {
  WATERMARK,
  WATERMARK_HEADER,
  WATERMARK_HEADER_VALUE,
  WATERMARK_MEMBER,
} from "../sandbox/watermark.ts";
import { pathStartOf } from "./request-url.ts";

const SANDBOX = "/v1/sandbox";

/** Without parsing the URL, because every request comes here. */
export const isSandboxPath = (url: string): boolean => {
  const pathStart = pathStartOf(url);
  if (!url.startsWith(SANDBOX, pathStart)) return false;
  const next = url[pathStart + SANDBOX.length];
  return next === undefined || next === "/" || next === "?";
};

const MEMBER = `${JSON.stringify(WATERMARK_MEMBER)}:${JSON.stringify(WATERMARK)}`;

/** Bytes that it adds to a body, with the comma. */
const MEMBER_BYTES = Buffer.byteLength(`,${MEMBER}`);

/** Adds the watermark as the last member of a JSON object; all other text stays as it is. */
const watermarkText = (text: string): string => {
  const end = text.lastIndexOf("}");
  if (!text.startsWith("{") || end < 0) return text;
  const isEmpty = text.slice(1, end).trim() === "";
  return `${text.slice(0, end)}${isEmpty ? "" : ","}${MEMBER}${text.slice(end)}`;
};

/** An answer with the header was already marked where it was made. */
export const watermarked = async (response: Response): Promise<Response> => {
  if (response.headers.has(WATERMARK_HEADER)) return response;
  const headers = new Headers(response.headers);
  headers.set(WATERMARK_HEADER, WATERMARK_HEADER_VALUE);
  const { status } = response;
  if (response.body === null) {
    // HEAD: the content-length of the absent body, which lacks the watermark.
    const bodyBytes = Number(headers.get("content-length") ?? 0);
    if (bodyBytes > 0) headers.set("content-length", String(bodyBytes + MEMBER_BYTES));
    return new Response(null, { status, headers });
  }
  headers.delete("content-length");
  return new Response(watermarkText(await response.text()), { status, headers });
};
