/**
 * Stands for a tenant in rows that are asked for whoever they belong to, as the announcer and the sealer do. No tenant has this name, so nobody's question
 * reaches them.
 */
export const OPERATOR = "*";
