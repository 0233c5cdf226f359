/** The names of the tenant's systems, by asset_id. */
import { signal } from "@preact/signals";
import { ask, type List } from "./api.ts";

interface Asset {
  readonly asset_id: string;
  readonly name?: string | null;
}

/** Undefined until they were read once. */
const names = signal<ReadonlyMap<string, string> | undefined>(undefined);

/** The most recently used ones; others are shown by their id. */
const SYSTEMS_MAX = "200";

export const readSystems = async (): Promise<void> => {
  const answer = await ask<List<Asset>>("v1/assets", { limit: SYSTEMS_MAX });
  const rows = answer.kind === "answered" ? answer.body.data : [];
  names.value = new Map(rows.map(({ asset_id, name }) => [asset_id, name ?? asset_id]));
};

export const systemName = (id: string): string => names.value?.get(id) ?? id;

export const knownSystems = (): readonly (readonly [id: string, name: string])[] => [...(names.value ?? [])];

/** For forms: a field that becomes a choice while somebody types into it would lose the text. */
export const systemsAreRead = (): boolean => names.value !== undefined;
