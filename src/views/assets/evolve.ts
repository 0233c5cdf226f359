import {
  type EventFacts,
  isObject,
  type JsonObject,
  keptText,
  metadataText,
  modelName,
  modelVersion,
} from "../../event/facts.ts";
import { CLAUSE_NAMES, metadataTexts } from "../../event/metadata-lists.ts";
import { RISK_TIERS } from "../../event/risk-tiers.ts";
import { ANY_LAW } from "../../law/obligations/deadline-table.ts";
import { KEPT_LEGAL_BASES_MAX } from "../../limits.ts";
import type { DutyCount } from "../coverage/duty-counts.ts";
import {
  addFirst,
  addSaid,
  isLater,
  isNews,
  type Latest,
  type LatestInMaking,
  latestText,
  type Said,
} from "../kit/latest.ts";
import type { FirstEvent } from "../kit/projection.ts";
import { ofThings } from "../kit/read-model.ts";
import { type Row, type RowOf, rowInteger, rowText } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { ASSET_DUTIES, ASSETS, ASSETS_VIEW, type AssetStatus } from "./tables.ts";

/** Columns of the asset register (DOMAIN 3.5), and the keys of `metadata` in which they are. */
const DESCRIBED: Readonly<Record<string, readonly string[]>> = {
  name: ["name", "asset_name"],
  owner: ["owner"],
  role: ["role"],
  ai_type: ["ai_type"],
  domain: ["domain"],
  decision_autonomy: ["decision_autonomy"],
  user_impact: ["user_impact"],
  retention: ["retention"],
};

const CREATED = "asset.created";
const DEPLOYED = "model.model_deployed";
const RETIRED = "model.model_retired";

const STATUS: Readonly<Record<string, AssetStatus>> = {
  [CREATED]: "active",
  "asset.archived": "archived",
  [DEPLOYED]: "active",
  [RETIRED]: "retired",
};

const RISK_CHANGED = "assessment.risk_classification_changed";

const TIMES: Readonly<Record<string, string>> = {
  [CREATED]: "created_last",
  "asset.archived": "archived_at",
  [DEPLOYED]: "deployed_at",
  [RETIRED]: "retired_at",
  "assessment.impact_assessment_completed": "assessed_at",
};

type Times = readonly [at: string, recorded: string];

/** Of events at one time the one that was received first, so that the order of arrival has no effect. */
const isBefore = ([at, recorded]: Times, [otherAt, otherRecorded]: Times): boolean =>
  at < otherAt || (at === otherAt && recorded < otherRecorded);

/** Changed in place: a copy for each event would take longer than everything else (measured). */
interface Asset {
  readonly isNew: boolean;
  events: number;
  first: Times;
  last: Times;
  legalBases: readonly string[];
  readonly said: LatestInMaking;
}

const assetOf = (row: Row | undefined, first: Times): Asset =>
  row
    ? {
        isNew: false,
        events: rowInteger(row, "events"),
        first: [rowText(row, "first_at"), rowText(row, "first_recorded_at")],
        last: [rowText(row, "last_at"), rowText(row, "last_recorded_at")],
        legalBases: JSON.parse(rowText(row, "legal_bases")),
        said: JSON.parse(rowText(row, "said")),
      }
    : { isNew: true, events: 0, first, last: first, legalBases: [], said: {} };

const grow = (asset: Asset, { facts, recorded }: FirstEvent): void => {
  const { eventType, occurred, eventId, legalBases, assetVersion } = facts;
  const times: Times = [occurred, recorded];
  asset.events++;
  if (isBefore(times, asset.first)) asset.first = times;
  if (isBefore(asset.last, times)) asset.last = times;
  asset.legalBases = union(asset.legalBases, legalBases);
  const say = (name: string, value: string | null | undefined): void => {
    if (value !== null && value !== undefined) addSaid(asset.said, name, [value, occurred, eventId]);
  };
  say(...tierOf(facts));
  // The version that was retired says nothing about the one that stays.
  if (eventType !== RETIRED) say("version", assetVersion);
  // A program may say so at each start, so the first one counts.
  if (eventType === CREATED) addFirst(asset.said, "created_at", [occurred, occurred, eventId, recorded]);
  const time = TIMES[eventType];
  if (time !== undefined) addSaid(asset.said, time, [occurred, occurred, eventId, recorded]);
  if (DESCRIBING.test(eventType)) for (const [name, value] of described(facts)) say(name, value);
  if (eventType === RETIRED) keepLast(asset.said, RETIRED_MODEL);
  if (eventType === DEPLOYED) keepLast(asset.said, DEPLOYED_MODEL);
};

/** Followed by the name of a model, empty if none is named: the deployed version of that model. */
const DEPLOYED_MODEL = "deployed:";
/** Followed by name and version of a model as JSON, empty if none is named: that version was retired. */
const RETIRED_MODEL = "retired:";
/** Far more than run at one time, and than are retired between two deployments of a model. */
const MODELS_MAX = 128;

/** The last ones are kept, whatever came first. */
const keepLast = (said: LatestInMaking, prefix: string): void => {
  const found = Object.entries(said).filter(([name]) => name.startsWith(prefix));
  if (found.length <= MODELS_MAX) return;
  found.sort(([, one], [, other]) => (isLater(one, other) ? -1 : 1));
  for (const [name] of found.slice(MODELS_MAX)) delete said[name];
};

/** The first ones by name are kept, so that a limit does not depend on the order of arrival. */
const union = (known: readonly string[], more: readonly string[]): readonly string[] => {
  for (const name of more)
    if (!known.includes(name)) return [...new Set([...known, ...more])].sort().slice(0, KEPT_LEGAL_BASES_MAX);
  return known;
};

/** Event types with this beginning say what an asset is, or when something was done with it. */
const DESCRIBING = /^(?:asset|model|assessment)\./;

const described = (facts: EventFacts): readonly (readonly [string, string | undefined])[] => {
  const { eventType, metadata, assetVersion } = facts;
  const done: readonly (readonly [string, string | undefined])[] = [["status", STATUS[eventType]]];
  if (eventType === RISK_CHANGED) return [...done, ["clauses", clausesIn(metadata)]];
  if (eventType.startsWith("assessment.")) return done;
  const personal = metadata.processes_personal_data;
  const version = keptText(metadata, "asset_version", "version", "model_version");
  const [model, ofModel] = [modelName(facts), modelVersion(facts)];
  const isNamed = model !== undefined || ofModel !== undefined;
  return [
    ...done,
    ["version", assetVersion === null && eventType !== RETIRED ? version : undefined],
    [DEPLOYED_MODEL + (model ?? ""), eventType === DEPLOYED && isNamed ? (ofModel ?? "") : undefined],
    [RETIRED_MODEL + JSON.stringify([model ?? "", ofModel ?? ""]), eventType === RETIRED ? "" : undefined],
    ["clauses", clausesIn(metadata)],
    ...oversightPerson(metadata),
    ["processes_personal_data", typeof personal === "boolean" ? String(personal) : undefined],
    ...Object.entries(DESCRIBED).map(([name, keys]) => {
      // In an event about a model, `name` is the model's name.
      const own = eventType.startsWith("model.") ? keys.filter((key) => key !== "name") : keys;
      return [name, keptText(metadata, ...own)] as const;
    }),
  ];
};

const clausesIn = (metadata: JsonObject): string | undefined => {
  const clauses = metadataTexts(metadata, ...CLAUSE_NAMES);
  return clauses.length === 0 ? undefined : JSON.stringify(clauses);
};

/** Name and contact of the human overseer, which must be published (AI Basic Act Decree 27(1)4): two texts, or an object with both. */
const oversightPerson = (metadata: JsonObject) => {
  const { oversight_person: person } = metadata;
  const both = isObject(person) ? person : {};
  return [
    ["oversight_person", keptText(metadata, "oversight_person") ?? keptText(both, "name")],
    ["oversight_contact", keptText(metadata, "oversight_contact") ?? keptText(both, "contact")],
  ] as const;
};

const CLASSIFIED_TIER = "classified_tier";
const SENT_TIER = "sent_tier";

/** An event that changes the classification states it in its metadata; any other event has the tier that its sender knew. */
const tierOf = ({ eventType, metadata, riskTier }: EventFacts): [name: string, tier: string | null] => {
  if (eventType !== RISK_CHANGED) return [SENT_TIER, riskTier];
  const to = metadataText(metadata, "to", "to_tier", "new_tier", "risk_tier")?.toLowerCase();
  return [CLASSIFIED_TIER, RISK_TIERS.find((tier) => tier === to) ?? riskTier];
};

/** An asset whose model was retired stays as it was before if another model, or another version, still runs. */
const statusOf = (known: Latest): string => {
  const { status } = known;
  if (status === undefined) return "seen" satisfies AssetStatus;
  const [said] = status;
  if (said !== ("retired" satisfies AssetStatus) || !hasModel(known)) return said;
  const { created_last: created, deployed_at: began, archived_at: archived } = known;
  const isArchived = archived !== undefined && [created, began].every((other) => isNews(other, archived));
  return isArchived ? ("archived" satisfies AssetStatus) : ("active" satisfies AssetStatus);
};

/** Of each model the version deployed last runs; models with other names run beside it. A statement that names no model may be about any of them. */
const hasModel = (known: Latest): boolean => {
  const deployed = startingWith(known, DEPLOYED_MODEL);
  const retired = startingWith(known, RETIRED_MODEL).map(([key, said]) => ({ said, names: namesIn(key) }));
  return deployed.some(
    ([model, began]) =>
      deployed.every(
        ([other, said]) => (other !== "" && model !== "") || other === model || isLater(began, said),
      ) &&
      !retired.some(
        ({ said, names: [name, version] }) =>
          (name === "" || model === "" || name === model) &&
          (version === "" || began[0] === "" || version === began[0]) &&
          !isLater(began, said),
      ),
  );
};

const startingWith = (known: Latest, prefix: string): readonly (readonly [string, Said])[] =>
  Object.entries(known).flatMap(([name, said]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), said] as const] : [],
  );

const namesIn = (text: string): readonly [name: string, version: string] => JSON.parse(text);

const rowOf = (tenant: string, assetId: string, asset: Asset): RowOf<typeof ASSETS> => ({
  tenant,
  asset_id: assetId,
  events: asset.events,
  first_at: asset.first[0],
  first_recorded_at: asset.first[1],
  last_at: asset.last[0],
  last_recorded_at: asset.last[1],
  status: statusOf(asset.said),
  // A sender that does not know a classification does not undo it.
  risk_tier: (asset.said[CLASSIFIED_TIER] ?? asset.said[SENT_TIER])?.[0] ?? null,
  version: asset.said.version?.[0] ?? null,
  legal_bases: JSON.stringify(asset.legalBases),
  said: latestText(asset.said),
});

/** Two things are required (DOMAIN 3.4): that its creation is in the log, and that its version is known. */
const LIFE_EVIDENCE = ["created_at", "version"] as const;

const dutiesOf = (tenant: string, assetId: string, { isNew, said }: Asset): readonly DutyCount[] => {
  const required = LIFE_EVIDENCE.length;
  const found = LIFE_EVIDENCE.filter((name) => said[name] !== undefined).length;
  const none = { tenant, asset_id: assetId, law: ANY_LAW, required: 0, in_time: 0, late: 0, unmet: 0 };
  const life = { ...none, duty: "lifecycle", required, in_time: found, unmet: required - found };
  return isNew ? [life, { ...none, duty: "labeling" }, { ...none, duty: "notice" }] : [life];
};

const keyOf = ({ tenant, facts }: FirstEvent) => ({ tenant, asset_id: facts.assetId });

export const assetsProjection = ofThings<Asset>({
  name: ASSETS_VIEW,
  version: 15,
  tables: [ASSETS, ASSET_DUTIES],
  idOf: ({ facts }) => facts.assetId,
  keysOf: (event) => [{ table: ASSETS, key: keyOf(event) }],
  read: (states, event) => assetOf(states.get(ASSETS, keyOf(event)), [event.facts.occurred, event.recorded]),
  grow,
  writesOf: (asset, tenant, id) => [
    { kind: "upsert", table: ASSETS, row: rowOf(tenant, id, asset) },
    ...dutiesOf(tenant, id, asset).map((row): Write => ({ kind: "upsert", table: ASSET_DUTIES, row })),
  ],
});
