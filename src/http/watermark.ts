/** The sandbox's watermark, put on at the one place that every answer passes: no route can forget it, nor can an error. */
import {
  WATERMARK,
  WATERMARK_HEADER,
  WATERMARK_HEADER_VALUE,
  WATERMARK_MEMBER,
} from "../sandbox/watermark.ts";
import { pathStartOf } from "./request-url.ts";

const SANDBOX = "/v1/sandbox";

/** Without parsing the URL, because this is asked about every request. */
export const isSandboxPath = (url: string): boolean => {
  const pathStart = pathStartOf(url);
  if (!url.startsWith(SANDBOX, pathStart)) return false;
  const next = url[pathStart + SANDBOX.length];
  return next === undefined || next === "/" || next === "?";
};

const MEMBER = `${JSON.stringify(WATERMARK_MEMBER)}:${JSON.stringify(WATERMARK)}`;

/** What it adds to a body, with the comma before it. */
const MEMBER_BYTES = Buffer.byteLength(`,${MEMBER}`);

/** The text of a JSON object with the watermark as its last member; what else is in it is not touched. */
const watermarkText = (text: string): string => {
  const end = text.lastIndexOf("}");
  if (!text.startsWith("{") || end < 0) return text;
  const isEmpty = text.slice(1, end).trim() === "";
  return `${text.slice(0, end)}${isEmpty ? "" : ","}${MEMBER}${text.slice(end)}`;
};

/** An answer that has the header was marked where it was made. */
export const watermarked = async (response: Response): Promise<Response> => {
  if (response.headers.has(WATERMARK_HEADER)) return response;
  const headers = new Headers(response.headers);
  headers.set(WATERMARK_HEADER, WATERMARK_HEADER_VALUE);
  const { status } = response;
  if (response.body === null) {
    // Of a HEAD: the length of a body that is not there, without the watermark.
    const bodyBytes = Number(headers.get("content-length") ?? 0);
    if (bodyBytes > 0) headers.set("content-length", String(bodyBytes + MEMBER_BYTES));
    return new Response(null, { status, headers });
  }
  headers.delete("content-length");
  return new Response(watermarkText(await response.text()), { status, headers });
};
