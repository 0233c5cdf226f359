/** A tenant is a name and nothing else: there is no list of tenants, a key says which one it belongs to. */
import { Type } from "@sinclair/typebox";

/**
 * A slug, because the tenant is a token of every subject and part of URLs and file paths: no dot, no wildcard,
 * no upper case, at most the 63 characters of a DNS label.
 */
export const TENANT_PATTERN = "^[a-z0-9][a-z0-9-]{0,62}$";
const TENANT = new RegExp(TENANT_PATTERN);

/** Where the admin key's own events go, and the tenant of a key that the admin creates without naming one. */
export const DEFAULT_TENANT = "default";

/** The tenant of what Prooftrail writes about itself (src/access/administration). Nobody sends events to it; the admin key creates keys that read it. */
export const SYSTEM_TENANT = "prooftrail-system";

export const isTenant = (text: string): boolean => TENANT.test(text);

export const TENANT_EXPECTED = "1 to 63 lower-case letters, digits and hyphens, not starting with a hyphen";

export const TenantSchema = Type.String({
  pattern: TENANT_PATTERN,
  description: `Tenant: ${TENANT_EXPECTED}.`,
  "x-expects": TENANT_EXPECTED,
});
