/** Facts by time, found by halving: a case may have thousands, and to look through all of them for each one would take quadratic time. */
import { countWhile } from "./count-while.ts";
import type { Fact } from "./fact.ts";

/** The first fact at or after this time. The facts are in order. */
export const firstFrom = (facts: readonly Fact[], at: string): Fact | undefined =>
  facts[countWhile(facts, (fact) => fact.at < at)];
