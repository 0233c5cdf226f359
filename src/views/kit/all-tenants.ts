/**
 * Stands in for the tenant in rows that are read for all tenants together, as by the notifier of obligations and the sealer. No tenant has this name, so no
 * tenant's query reaches them.
 */
export const OPERATOR = "*";
