import { MODEL_NAMES, metadataText, modelVersion } from "../../event/facts.ts";
import { type Row, type RowOf, rowInteger, rowText } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import { earlierOf, type Latest, latestText, type Said, withSaid } from "../latest.ts";
import type { States } from "../projection.ts";
import { MODELS, type ModelState } from "./tables.ts";

const DEPLOYED = "model.model_deployed";
const RETIRED = "model.model_retired";
const DEGRADED = "model.performance_degraded";

const isAboutModel = ({ facts }: FirstEvent): boolean => facts.eventType.startsWith("model.");

const keyOf = ({ tenant, facts }: FirstEvent) => ({
  tenant,
  asset_id: facts.assetId,
  version: modelVersion(facts) ?? "",
});

const evolve = (states: States, events: readonly FirstEvent[]): readonly Write[] => {
  const rows = new Map<string, RowOf<typeof MODELS>>();
  for (const event of events.filter(isAboutModel)) {
    const key = keyOf(event);
    const name = JSON.stringify(Object.values(key));
    rows.set(name, grown(key, rows.get(name) ?? states.get(MODELS, key), event));
  }
  return [...rows.values()].map((row) => ({ kind: "upsert", table: MODELS, row }));
};

const grown = (
  key: ReturnType<typeof keyOf>,
  before: Row | undefined,
  { facts }: FirstEvent,
): RowOf<typeof MODELS> => {
  const { occurred, eventId, eventType, metadata } = facts;
  const said = (value: string): Said => [value, occurred, eventId];
  const known: Latest = before ? JSON.parse(rowText(before, "said")) : {};
  const model = metadataText(metadata, ...MODEL_NAMES);
  const named = model === undefined ? known : withSaid(known, "model", said(model));
  const latest = withSaid(named, eventType, said(occurred));
  const at = before ? rowText(before, "at") : occurred;
  const timeOf = (type: string): string | null => latest[type]?.[0] ?? null;
  const [deployedAt, retiredAt] = [timeOf(DEPLOYED), timeOf(RETIRED)];
  const isRetired = retiredAt !== null && (deployedAt === null || retiredAt >= deployedAt);
  return {
    ...key,
    model: latest.model?.[0] ?? null,
    at: earlierOf(occurred, at),
    state: (isRetired ? "retired" : deployedAt === null ? "seen" : "deployed") satisfies ModelState,
    deployed_at: deployedAt,
    retired_at: retiredAt,
    degradations: (before ? rowInteger(before, "degradations") : 0) + Number(eventType === DEGRADED),
    degraded_at: timeOf(DEGRADED),
    said: latestText(latest),
  };
};

export const modelsProjection = onFirstEvents({
  name: "models",
  version: 7,
  tables: [MODELS],
  stateKeys: (events) => events.filter(isAboutModel).map((event) => ({ table: MODELS, key: keyOf(event) })),
  evolve,
});
