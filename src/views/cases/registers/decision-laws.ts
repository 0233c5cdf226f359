/** The legal bases with which a decision is shown and counted: its own, and those of the events that belong to it. */
import type { Decision } from "../../../law/cases/case.ts";
import { KEPT_LEGAL_BASES_MAX } from "../../../limits.ts";
import { isRegistered } from "../../coverage/legal-bases.ts";

/**
 * Where there are too many, those that this program knows stay, and of the others the first by name: so the limit does not depend on the order of arrival.
 */
export const decisionLaws = (decision: Decision): readonly string[] => {
  const { bases } = decision;
  if (bases.length <= KEPT_LEGAL_BASES_MAX) return bases;
  const known = chosen.get(decision);
  if (known) return known;
  const ordered = bases.toSorted();
  const knownFirst = [...ordered.filter(isRegistered), ...ordered.filter((law) => !isRegistered(law))];
  const laws = knownFirst.slice(0, KEPT_LEGAL_BASES_MAX);
  chosen.set(decision, laws);
  return laws;
};

/** Cached for decisions with too many, because two registers ask. */
const chosen = new WeakMap<Decision, readonly string[]>();
