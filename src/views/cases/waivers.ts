/**
 * Where an event belongs. Waiving an obligation is an administrative event in the log of the system; it belongs to the case of the obligation, in the log of
 * whose tenant nobody can write such an event.
 */

import { metadataText } from "../../event/facts.ts";
import type { Fact } from "../../law/cases/fact.ts";
import { isWaiver } from "../../law/obligations/waivers.ts";
import type { FirstEvent } from "../kit/first-events.ts";

interface Place {
  readonly tenant: string;
  readonly fact: Fact;
  readonly names: readonly string[];
}

export const placeOf = ({ tenant, told, facts }: FirstEvent): Place => {
  const { fact, names } = told;
  if (!isWaiver(fact)) return { tenant, fact, names };
  const text = (name: string): string => metadataText(facts.metadata, name) ?? "";
  const { at, id, sequence, recorded, type, asset } = fact;
  const says = { obligation_id: text("obligation_id"), actor: text("actor"), reason: text("reason") };
  return {
    tenant: text("tenant"),
    fact: { at, id, sequence, recorded, type, asset, links: {}, says },
    names: [text("case_name")],
  };
};
