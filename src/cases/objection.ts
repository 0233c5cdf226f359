/** What is known of an objection as a whole. */
import { type Fact, saysWord } from "./fact.ts";

export interface Objection {
  readonly id: string;
  readonly decisionId: string | undefined;
  /** Absent where others refer to an objection that was never seen. */
  readonly received: Fact | undefined;
  readonly acknowledged: Fact | undefined;
  readonly escalated: Fact | undefined;
  readonly resolved: Fact | undefined;
  /** In order, the first one included. */
  readonly facts: readonly Fact[];
}

/** As it was received; where that is not said, what was said of it last. */
export const typeOfObjection = ({ received, facts }: Objection): string | undefined =>
  received?.says.objection_type ??
  facts.findLast(({ says }) => says.objection_type !== undefined)?.says.objection_type;

export const isDenied = (fact: Fact): boolean => saysWord(fact, "resolution") === "denied";

/** What ends a request for an explanation, or a refusal of automation, as an answer to it would. */
export const reasonedDenial = ({ received, facts }: Objection): Fact | undefined =>
  received &&
  facts.find(
    (fact) =>
      fact.type === "objection.resolved" &&
      fact.at >= received.at &&
      isDenied(fact) &&
      fact.says.reason !== undefined,
  );

export const isExplanation = ({ type }: Fact): boolean => type === "decision.explanation_provided";
export const isReversal = ({ type }: Fact): boolean => type === "decision.decision_reversed";

export const EXPLANATION_REQUEST = "explanation_request";
/** Whether it asks for an explanation, under whatever law. */
export const asksForExplanation = (objection: Objection): boolean =>
  typeOfObjection(objection)?.toLowerCase() === EXPLANATION_REQUEST;
