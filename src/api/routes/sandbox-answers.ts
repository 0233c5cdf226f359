/** What all answers of the sandbox have in common. */
import { SANDBOX_REQUESTS_PER_MINUTE } from "../../limits.ts";
import { WATERMARK_HEADER, WATERMARK_HEADER_VALUE } from "../sandbox/watermark.ts";

/** Of an answer that has the watermark in its body: it may be long, and would otherwise be read again for it (http/watermark.ts). */
export const marked = (answer: Response): Response => {
  if (answer.ok) answer.headers.set(WATERMARK_HEADER, WATERMARK_HEADER_VALUE);
  return answer;
};

export const SANDBOX_LIMITED = `At most ${SANDBOX_REQUESTS_PER_MINUTE} requests in any minute per client (IPv4 address or IPv6 /64), over all sandbox endpoints together.`;
export const SANDBOX_PROBLEMS = ["rate_limited", "log_unavailable"] as const;
