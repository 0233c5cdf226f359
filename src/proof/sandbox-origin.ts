/**
 * The origin of the sandbox's tree heads, and the name of its key. No installation can have it: SERVICE_NAME is in lower case. A name has no spaces
 * (C2SP signed-note), so the watermark itself stands in a signed line of the head.
 */
export const SANDBOX_ORIGIN = "SANDBOX-NOT-FOR-PRODUCTION/sandbox";

export const isSandboxOrigin = (origin: string): boolean => origin.startsWith("SANDBOX-NOT-FOR-PRODUCTION/");

export const SANDBOX_PROOF =
  "this is a sandbox proof: what it is about was never in a log, and it can never be evidence";
