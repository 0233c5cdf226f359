/** Part of every answer of the sandbox, so that it cannot be mistaken for a real audit artefact (SPEC 1.4). */
export const WATERMARK = "SANDBOX — NOT FOR PRODUCTION";
export const WATERMARK_MEMBER = "_sandbox_watermark";
/** Headers are at most Latin-1 (RFC 9110 §5.5), so this text has another dash. */
export const WATERMARK_HEADER = "x-sandbox-watermark";
export const WATERMARK_HEADER_VALUE = "SANDBOX - NOT FOR PRODUCTION";
/** The tenant in sandbox records; it stands for nobody. */
export const SANDBOX_TENANT = "sandbox";
