import { type EventFacts, modelName, modelText, modelVersion, shortened } from "../../event/facts.ts";
import { earlierOf, latestText, type Said, withSaid } from "../kit/latest.ts";
import type { FirstEvent, StateKey, States } from "../kit/projection.ts";
import { ofThings } from "../kit/read-model.ts";
import { type RowOf, rowText } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { DEGRADED, MODEL_VERSIONS, MODELS, type ModelSaid, modelRow } from "./tables.ts";

const isAboutModel = ({ facts }: FirstEvent): boolean => facts.eventType.startsWith("model.");

type VersionKey = Pick<RowOf<typeof MODEL_VERSIONS>, "tenant" | "asset_id" | "version">;

const versionOf = ({ tenant, facts }: FirstEvent): VersionKey => ({
  tenant,
  asset_id: facts.assetId,
  version: modelVersion(facts) ?? "",
});

const nameOf = (facts: EventFacts): string => modelName(facts) ?? "";

interface Version {
  readonly key: VersionKey;
  firstName: string;
  hasOthers: boolean;
  unnamed: ModelSaid | undefined;
  readonly named: Map<string, ModelSaid>;
}

const versionIn = (states: States, key: VersionKey): Version => {
  const row = states.get(MODEL_VERSIONS, key);
  const version: Version = {
    key,
    firstName: row ? rowText(row, "first_name") : "",
    hasOthers: row?.has_others === 1,
    unnamed: row && saidIn(rowText(row, "said")),
    named: new Map(),
  };
  // Statements without a model name belong to it while it is the only one.
  if (version.firstName !== "" && !version.hasOthers) load(states, version, version.firstName);
  return version;
};

const load = (states: States, { key, named }: Version, name: string): void => {
  const row = named.has(name) ? undefined : states.get(MODELS, { ...key, name });
  const said = row && saidIn(rowText(row, "said"));
  if (said) named.set(name, said);
};

const grow = (version: Version, { facts, recorded }: FirstEvent, states: States): void => {
  const name = nameOf(facts);
  if (name === "") {
    version.unnamed = saidAnd(version.unnamed, facts, recorded);
    return;
  }
  load(states, version, name);
  version.named.set(name, saidAnd(version.named.get(name), facts, recorded));
  const { firstName } = version;
  version.hasOthers ||= firstName !== "" && firstName !== name;
  if (firstName === "" || name < firstName) version.firstName = name;
};

const saidAnd = (before: ModelSaid | undefined, facts: EventFacts, recorded: string): ModelSaid => {
  const { occurred, eventId, eventType } = facts;
  const model = modelText(facts);
  const said: Said = [occurred, occurred, eventId, recorded];
  const latest = withSaid(before?.latest ?? {}, eventType, said);
  return {
    at: earlierOf(occurred, before?.at ?? occurred),
    degradations: (before?.degradations ?? 0) + Number(eventType === DEGRADED),
    latest: model === undefined ? latest : withSaid(latest, "model", [shortened(model), occurred, eventId]),
  };
};

/** A statement that names no model is about the only model of that version. If there are several it may be about any, so it gets a row of its own. */
const writesOf = ({ key, firstName, hasOthers, unnamed, named }: Version): readonly Write[] => {
  const { tenant, asset_id: asset, version } = key;
  const rowOf = (name: string, own: ModelSaid | undefined, said: ModelSaid): Write => {
    const row = modelRow(tenant, { asset, version, name, said, own: saidText(own) });
    return { kind: "upsert", table: MODELS, row };
  };
  const isOnly = firstName !== "" && !hasOthers;
  const row = { ...key, first_name: firstName, has_others: hasOthers ? 1 : 0, said: saidText(unnamed) };
  const writes: Write[] = [{ kind: "upsert", table: MODEL_VERSIONS, row }];
  for (const [name, own] of named) writes.push(rowOf(name, own, isOnly ? together(own, unnamed) : own));
  if (unnamed === undefined) return writes;
  const ofNone: Write = isOnly
    ? { kind: "delete", table: MODELS, key: { ...key, name: "" } }
    : rowOf("", undefined, unnamed);
  return [...writes, ofNone];
};

const together = (one: ModelSaid, other: ModelSaid | undefined): ModelSaid => {
  if (other === undefined) return one;
  let { latest } = one;
  for (const [name, said] of Object.entries(other.latest)) latest = withSaid(latest, name, said);
  return {
    at: earlierOf(one.at, other.at),
    degradations: one.degradations + other.degradations,
    latest,
  };
};

/** The text in a row; empty if there is nothing. */
const saidText = (said: ModelSaid | undefined): string =>
  said === undefined
    ? ""
    : `{"at":${JSON.stringify(said.at)},"degradations":${said.degradations},"latest":${latestText(said.latest)}}`;

const saidIn = (text: string): ModelSaid | undefined => (text === "" ? undefined : JSON.parse(text));

/** Also the only model of the version, to which unnamed statements belong. */
const furtherKeys = (states: States, event: FirstEvent): readonly StateKey[] => {
  const row = isAboutModel(event) ? states.get(MODEL_VERSIONS, versionOf(event)) : undefined;
  if (!row) return [];
  const key = { ...versionOf(event), name: rowText(row, "first_name") };
  return states.isNamed(MODELS, key) ? [] : [{ table: MODELS, key }];
};

export const modelsProjection = ofThings<Version>({
  name: "models",
  version: 10,
  tables: [MODELS, MODEL_VERSIONS],
  idOf: (event) =>
    isAboutModel(event) ? JSON.stringify([event.facts.assetId, modelVersion(event.facts)]) : undefined,
  keysOf: (event) => {
    const key = versionOf(event);
    return [
      { table: MODEL_VERSIONS, key },
      { table: MODELS, key: { ...key, name: nameOf(event.facts) } },
    ];
  },
  furtherKeys,
  read: (states, event) => versionIn(states, versionOf(event)),
  grow,
  writesOf,
});
