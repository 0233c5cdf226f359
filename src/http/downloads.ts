/** What the answers that are files share. */
import { EXPORTS_PER_KEY_MAX, EXPORTS_PER_TENANT_MAX } from "../limits.ts";

/** `20261120T100000Z`: no file system minds it. */
export const fileTime = (time: Date): string => `${time.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;

export const TOO_MANY_EXPORTS = {
  detail: `A key may have ${EXPORTS_PER_KEY_MAX} exports running at once, a tenant ${EXPORTS_PER_TENANT_MAX}, and this instance only so many for all.`,
};
