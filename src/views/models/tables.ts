import type { Latest } from "../kit/latest.ts";
import type { List } from "../kit/list.ts";
import { columnsOf, tableOf } from "../kit/read-model.ts";
import { INTEGER, type Table, TEXT } from "../store/tables.ts";

export const MODEL_STATES = ["seen", "deployed", "retired"] as const;
export type ModelState = (typeof MODEL_STATES)[number];

export const DEPLOYED = "model.model_deployed";
export const RETIRED = "model.model_retired";
export const DEGRADED = "model.performance_degraded";

/** What events say of a model: sums and latest statements, so that the order of arrival has no effect. */
export interface ModelSaid {
  readonly at: string;
  readonly degradations: number;
  /** By event type, and the model as it is named. */
  readonly latest: Latest;
}

interface Model {
  readonly asset: string;
  /** Empty if the events name none. */
  readonly version: string;
  /** The model's name, short enough for a key. Empty if the events name none. */
  readonly name: string;
  readonly said: ModelSaid;
  readonly own: string;
}

const { integer, saidTimes, optional, text } = columnsOf<Model>();
const latestIn = ({ said }: Model): Latest => said.latest;

const stateOf = ({ said: { latest } }: Model): ModelState => {
  const [deployedAt, retiredAt] = [latest[DEPLOYED]?.[0], latest[RETIRED]?.[0]];
  if (retiredAt !== undefined && (deployedAt === undefined || retiredAt >= deployedAt)) return "retired";
  return deployedAt === undefined ? "seen" : "deployed";
};

export const { table: MODELS, rowOf: modelRow } = tableOf<Model>({
  name: "models",
  columns: {
    asset_id: text(({ asset }) => asset),
    version: text(({ version }) => version),
    name: text(({ name }) => name),
    model: optional(({ said }) => said.latest.model?.[0]),
    at: text(({ said }) => said.at),
    state: text(stateOf),
    ...saidTimes("deployed", DEPLOYED, latestIn),
    ...saidTimes("retired", RETIRED, latestIn),
    degradations: integer(({ said }) => said.degradations),
    ...saidTimes("degraded", DEGRADED, latestIn),
    said: text(({ own }) => own),
  },
  primaryKey: ["tenant", "asset_id", "version", "name"],
  indexes: [
    ["tenant", "at", "asset_id", "version", "name"],
    ["tenant", "state", "at", "asset_id", "version", "name"],
    ["tenant", "asset_id", "at", "version", "name"],
  ],
});

/** The model names of one version of an asset, and what was said of that version without a name. */
export const MODEL_VERSIONS = {
  name: "model_versions",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    version: TEXT,
    first_name: TEXT,
    has_others: INTEGER,
    /** As in MODELS; empty if every event names its model. */
    said: TEXT,
  },
  primaryKey: ["tenant", "asset_id", "version"],
  indexes: [],
} as const satisfies Table;

export const modelList: List = {
  view: "models",
  table: MODELS,
  orderBy: ["at", "asset_id", "version", "name"],
  time: "the time of the first event about it",
  filters: ["asset_id", "state"],
  values: { state: MODEL_STATES },
  hidden: ["name", "at", "said"],
};
