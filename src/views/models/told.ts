/** What events say of a model: sums and latest statements, so that the order of arrival has no effect. */
import { type EventFacts, modelText, shortened } from "../../event/facts.ts";
import { earlierOf, isNews, type Latest, latestText, type Said, withSaid } from "../kit/latest.ts";
import type { ModelState } from "./tables.ts";

export interface Told {
  /** The time of the first event about it. */
  readonly at: string;
  readonly degradations: number;
  readonly latest: Latest;
}

const DEPLOYED = "model.model_deployed";
const RETIRED = "model.model_retired";
const DEGRADED = "model.performance_degraded";

/** `recorded`: when the log received the event. */
export const toldAnd = (before: Told | undefined, facts: EventFacts, recorded: string): Told => {
  const { occurred, eventId, eventType } = facts;
  const said = (value: string): Said => [value, occurred, eventId];
  const model = modelText(facts);
  const known = before?.latest ?? {};
  const named = model === undefined ? known : withSaid(known, "model", said(shortened(model)));
  return {
    at: earlierOf(occurred, before?.at ?? occurred),
    degradations: (before?.degradations ?? 0) + Number(eventType === DEGRADED),
    latest: withSaid(named, eventType, [occurred, occurred, eventId, recorded]),
  };
};

/** The combination of both. */
export const together = (one: Told, other: Told | undefined): Told => {
  if (other === undefined) return one;
  const latest = { ...one.latest };
  for (const [name, said] of Object.entries(other.latest))
    if (isNews(latest[name], said)) latest[name] = said;
  return {
    at: earlierOf(one.at, other.at),
    degradations: one.degradations + other.degradations,
    latest,
  };
};

/** The text in a row; empty if there is nothing. */
export const toldText = (told: Told | undefined): string =>
  told === undefined
    ? ""
    : `{"at":${JSON.stringify(told.at)},"degradations":${told.degradations},"latest":${latestText(told.latest)}}`;

export const toldIn = (text: string): Told | undefined => (text === "" ? undefined : JSON.parse(text));

/** The columns of the register that follow from it. */
export const modelColumns = ({ at, degradations, latest }: Told) => {
  const timeOf = (type: string): string | null => latest[type]?.[0] ?? null;
  const recordedOf = (type: string): string | null => latest[type]?.[3] ?? null;
  const [deployedAt, retiredAt] = [timeOf(DEPLOYED), timeOf(RETIRED)];
  const isRetired = retiredAt !== null && (deployedAt === null || retiredAt >= deployedAt);
  return {
    model: latest.model?.[0] ?? null,
    at,
    state: (isRetired ? "retired" : deployedAt === null ? "seen" : "deployed") satisfies ModelState,
    deployed_at: deployedAt,
    deployed_recorded_at: recordedOf(DEPLOYED),
    retired_at: retiredAt,
    retired_recorded_at: recordedOf(RETIRED),
    degradations,
    degraded_at: timeOf(DEGRADED),
    degraded_recorded_at: recordedOf(DEGRADED),
  };
};
