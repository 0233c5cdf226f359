import { expect, test } from "bun:test";
import { DEFAULT_TENANT, isTenant } from "./tenant.ts";

test("a tenant is a slug that fits into a subject, a URL and a DNS label", () => {
  for (const tenant of [DEFAULT_TENANT, "a", "0", "acme-eu-1", "a".repeat(63)])
    expect(isTenant(tenant)).toBe(true);
  for (const tenant of ["", "-a", "Acme", "a.b", "a b", "a_b", "*", ">", "é", "a\n", "a".repeat(64)]) {
    expect(isTenant(tenant)).toBe(false);
  }
});
