import { type EventFacts, modelName, modelVersion } from "../../event/facts.ts";
import { type FirstEvent, onFirstEvents } from "../kit/first-events.ts";
import type { StateKey, States } from "../kit/projection.ts";
import { type RowOf, rowText } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { MODEL_VERSIONS, MODELS } from "./tables.ts";
import { modelColumns, type Told, together, toldAnd, toldIn, toldText } from "./told.ts";

const isAboutModel = ({ facts }: FirstEvent): boolean => facts.eventType.startsWith("model.");

type VersionKey = Pick<RowOf<typeof MODEL_VERSIONS>, "tenant" | "asset_id" | "version">;

const versionOf = ({ tenant, facts }: FirstEvent): VersionKey => ({
  tenant,
  asset_id: facts.assetId,
  version: modelVersion(facts) ?? "",
});

const nameOf = (facts: EventFacts): string => modelName(facts) ?? "";

/** One version of an asset while it changes: what was said of each of its loaded models. */
interface Version {
  readonly key: VersionKey;
  firstName: string;
  hasOthers: boolean;
  unnamed: Told | undefined;
  readonly named: Map<string, Told>;
}

const evolve = (states: States, events: readonly FirstEvent[]): readonly Write[] => {
  const versions = new Map<string, Version>();
  for (const event of events.filter(isAboutModel)) {
    const key = versionOf(event);
    const text = JSON.stringify(Object.values(key));
    const version = versions.get(text) ?? versionIn(states, key);
    versions.set(text, version);
    grow(states, version, event);
  }
  return [...versions.values()].flatMap(writesOf);
};

const versionIn = (states: States, key: VersionKey): Version => {
  const row = states.get(MODEL_VERSIONS, key);
  const version: Version = {
    key,
    firstName: row ? rowText(row, "first_name") : "",
    hasOthers: row?.has_others === 1,
    unnamed: row && toldIn(rowText(row, "said")),
    named: new Map(),
  };
  // Statements without a model name belong to it while it is the only one.
  if (version.firstName !== "" && !version.hasOthers) load(states, version, version.firstName);
  return version;
};

const load = (states: States, { key, named }: Version, name: string): void => {
  const row = named.has(name) ? undefined : states.get(MODELS, { ...key, name });
  const told = row && toldIn(rowText(row, "said"));
  if (told) named.set(name, told);
};

const grow = (states: States, version: Version, { facts, told: { fact } }: FirstEvent): void => {
  const name = nameOf(facts);
  if (name === "") {
    version.unnamed = toldAnd(version.unnamed, facts, fact.recorded);
    return;
  }
  load(states, version, name);
  version.named.set(name, toldAnd(version.named.get(name), facts, fact.recorded));
  const { firstName } = version;
  version.hasOthers ||= firstName !== "" && firstName !== name;
  if (firstName === "" || name < firstName) version.firstName = name;
};

/** A statement that names no model is about the only model of that version. If there are several it may be about any, so it gets a row of its own. */
const writesOf = ({ key, firstName, hasOthers, unnamed, named }: Version): readonly Write[] => {
  const rowOf = (name: string, own: Told | undefined, told: Told): Write => ({
    kind: "upsert",
    table: MODELS,
    row: { ...key, name, ...modelColumns(told), said: toldText(own) },
  });
  const isOnly = firstName !== "" && !hasOthers;
  return [
    {
      kind: "upsert",
      table: MODEL_VERSIONS,
      row: { ...key, first_name: firstName, has_others: hasOthers ? 1 : 0, said: toldText(unnamed) },
    },
    ...[...named].map(([name, own]) => rowOf(name, own, isOnly ? together(own, unnamed) : own)),
    ...unnamedWrites(),
  ];

  function unnamedWrites(): readonly Write[] {
    if (unnamed === undefined) return [];
    if (isOnly) return [{ kind: "delete", table: MODELS, key: { ...key, name: "" } }];
    return [rowOf("", undefined, unnamed)];
  }
};

const rowsOfVersion = (event: FirstEvent): readonly StateKey[] => {
  const key = versionOf(event);
  return [
    { table: MODEL_VERSIONS, key },
    { table: MODELS, key: { ...key, name: nameOf(event.facts) } },
  ];
};

/** The only model of the version, to which unnamed statements belong, if it is not loaded yet. */
const firstNamed = (states: States, event: FirstEvent): readonly StateKey[] => {
  const row = isAboutModel(event) ? states.get(MODEL_VERSIONS, versionOf(event)) : undefined;
  if (!row) return [];
  const key = { ...versionOf(event), name: rowText(row, "first_name") };
  return states.isNamed(MODELS, key) ? [] : [{ table: MODELS, key }];
};

export const modelsProjection = onFirstEvents({
  name: "models",
  version: 10,
  tables: [MODELS, MODEL_VERSIONS],
  stateKeys: (events) => events.filter(isAboutModel).flatMap(rowsOfVersion),
  furtherKeys: firstNamed,
  evolve,
});
