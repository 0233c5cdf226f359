/**
 * Makes the broker agree with streams/, at the start and after every reconnect. A stream on disk that existed and is missing is not recreated:
 * nats-server 2.15.1 leaves out a stream that it cannot recover, and creating it can delete the files of the old one (measured). So the log's metadata
 * names the streams that were created.
 */
import {
  ErrorCode,
  type JetStreamManager,
  type NatsConnection,
  NatsError,
  StorageType,
  type StreamConfig,
} from "nats";
import {
  bytesReserved,
  RETIRED_STREAMS,
  type StreamDefinition,
  type StreamSettings,
} from "../../streams/topology.ts";
import type { Logger } from "../telemetry/logger.ts";
import { API_ERROR, apiErrorCode, describeError } from "./api-errors.ts";

export interface StreamDifference {
  readonly stream: string;
  readonly setting: keyof StreamSettings;
  readonly wanted: string;
  readonly found: string;
}

export const differenceText = ({ stream, setting, wanted, found }: StreamDifference): string =>
  `${stream}.${setting} must be ${wanted}, is ${found}`;

export type Reconciliation =
  | { readonly kind: "agreed"; readonly made: readonly string[]; readonly updated: readonly string[] }
  | { readonly kind: "refused"; readonly differences: readonly StreamDifference[] }
  | { readonly kind: "lost"; readonly streams: readonly string[] }
  /** More than one copy is wanted from a server that is no cluster, and cannot become one while it runs. */
  | { readonly kind: "no_cluster"; readonly replicas: number }
  /** JetStream has less space left than the streams with this storage reserve. */
  | { readonly kind: "no_room"; readonly storage: StreamSettings["storage"]; readonly bytesReserved: number }
  | { readonly kind: "forbidden" }
  | { readonly kind: "no_jetstream" }
  | { readonly kind: "unavailable"; readonly detail: string };

export const reconcileStreams = async (options: {
  readonly provisioner: NatsConnection;
  readonly definitions: readonly StreamDefinition[];
  readonly logger: Logger;
}): Promise<Reconciliation> => {
  const { provisioner, definitions, logger } = options;
  const done: StreamResult[] = [];
  try {
    const manager = await provisioner.jetstreamManager({ checkAPI: false });
    let found = await findStreams(manager, definitions);
    // Read again, because another process may create streams between two requests.
    if (lostStreams(definitions, found).length > 0) found = await findStreams(manager, definitions);
    const lost = lostStreams(definitions, found);
    if (lost.length > 0) return { kind: "lost", streams: lost };
    // Checked before anything is changed: a refused start leaves everything as it was.
    const fixed = definitions.flatMap((definition) => fixedDifferences(definition, found));
    const replicas = replicasOf(definitions);
    // If the copies cannot be kept, that is the reason to report: correcting the differences would not help.
    if (fixed.length > 0 && provisioner.info?.cluster === undefined && replicas > 1)
      return { kind: "no_cluster", replicas };
    if (fixed.length > 0) return { kind: "refused", differences: fixed };
    for (const definition of definitions)
      done.push(await reconcileStream(manager, definition, found.get(definition.name)));
    if (done.every(({ left }) => left.length === 0)) await rememberMade(manager, definitions, found);
    await shrinkRetired(manager, logger);
  } catch (error) {
    return failureOf(error, definitions);
  }
  const agreed = done.filter(({ left }) => left.length === 0);
  const named = (how: StreamResult["kind"]): readonly string[] =>
    agreed.filter(({ kind }) => kind === how).map(({ stream }) => stream);
  const [made, updated] = [named("made"), named("updated")];
  for (const stream of made) logger.info("created a stream", { stream });
  for (const stream of updated) logger.info("updated a stream", { stream });
  return agreed.length < done.length
    ? { kind: "refused", differences: done.flatMap(({ left }) => left) }
    : { kind: "agreed", made, updated };
};

const failureOf = (error: unknown, definitions: readonly StreamDefinition[]): Reconciliation => {
  const code = apiErrorCode(error);
  if (code === API_ERROR.noCluster) return { kind: "no_cluster", replicas: replicasOf(definitions) };
  if (code === API_ERROR.noMemory || code === API_ERROR.noDisk) {
    const storage = code === API_ERROR.noMemory ? "memory" : "file";
    return { kind: "no_room", storage, bytesReserved: bytesReserved(definitions, storage) };
  }
  if (error instanceof NatsError && error.isPermissionError()) return { kind: "forbidden" };
  if (error instanceof NatsError && error.code === ErrorCode.NoResponders) return { kind: "no_jetstream" };
  return { kind: "unavailable", detail: describeError(error) };
};

const replicasOf = (definitions: readonly StreamDefinition[]): number =>
  Math.max(...definitions.map(({ settings }) => settings.num_replicas));

interface StreamResult {
  readonly stream: string;
  readonly kind: "made" | "updated" | "as_wanted";
  readonly left: readonly StreamDifference[];
}

type FoundStreams = ReadonlyMap<string, StreamConfig>;

const findStreams = async (
  manager: JetStreamManager,
  definitions: readonly StreamDefinition[],
): Promise<FoundStreams> => {
  const found = new Map<string, StreamConfig>();
  for (const { name } of definitions) {
    const config = await findStream(manager, name);
    if (config) found.set(name, config);
  }
  return found;
};

/** Member of the first stream's metadata: the names of all streams on disk, separated by commas. */
const MADE = "prooftrail.streams";

const namesOnDisk = (definitions: readonly StreamDefinition[]): readonly string[] =>
  definitions.filter(({ settings }) => settings.storage === "file").map(({ name }) => name);

export const lostStreams = (
  definitions: readonly StreamDefinition[],
  found: FoundStreams,
): readonly string[] => {
  const [first = "", ...others] = namesOnDisk(definitions);
  const made = found.get(first)?.metadata?.[MADE]?.split(",") ?? [];
  // The first stream is created before all others; so if one of them exists, it has existed.
  if (!found.has(first) && others.some((name) => found.has(name))) return [first];
  return others.filter((name) => made.includes(name) && !found.has(name));
};

const rememberMade = async (
  manager: JetStreamManager,
  definitions: readonly StreamDefinition[],
  found: FoundStreams,
): Promise<void> => {
  const names = namesOnDisk(definitions);
  const [first] = names;
  const made = names.join(",");
  if (first === undefined || found.get(first)?.metadata?.[MADE] === made) return;
  // Read again: it may have been created or updated since.
  const { config } = await manager.streams.info(first);
  await manager.streams.update(first, { ...config, metadata: { ...config.metadata, [MADE]: made } });
};

/** A retired stream may have no leader, and is no reason not to start. */
const shrinkRetired = async (manager: JetStreamManager, logger: Logger): Promise<void> => {
  for (const stream of RETIRED_STREAMS) {
    try {
      const found = await findStream(manager, stream);
      if (found === undefined || found.storage !== StorageType.Memory || found.max_msgs === 1) continue;
      await manager.streams.update(stream, { ...found, max_msgs: 1 });
      logger.info("emptied a stream of an earlier version", { stream });
    } catch (error) {
      logger.warn("a stream of an earlier version could not be emptied", {
        stream,
        detail: describeError(error),
      });
    }
  }
};

const fixedDifferences = (
  definition: StreamDefinition,
  streams: FoundStreams,
): readonly StreamDifference[] => {
  const found = streams.get(definition.name);
  if (!found) return [];
  return differencesOf(definition, found).filter(({ setting }) => !definition.updatable.includes(setting));
};

const reconcileStream = async (
  manager: JetStreamManager,
  definition: StreamDefinition,
  found: StreamConfig | undefined,
): Promise<StreamResult> => {
  if (!found) return makeStream(manager, definition);
  const stream = definition.name;
  if (differencesOf(definition, found).length === 0) return { stream, kind: "as_wanted", left: [] };
  const { config } = await manager.streams.update(stream, { ...found, ...toConfig(definition) });
  return { stream, kind: "updated", left: differencesOf(definition, config) };
};

const makeStream = async (manager: JetStreamManager, definition: StreamDefinition): Promise<StreamResult> => {
  try {
    const { config } = await manager.streams.add(toConfig(definition));
    // A server that is too old for a setting drops it silently, so the result is compared too.
    return { stream: definition.name, kind: "made", left: differencesOf(definition, config) };
  } catch (error) {
    // Another process may have created it meanwhile; for a stream in memory the server then reports no room (10028, measured on 2.15.1).
    const made = await findStream(manager, definition.name);
    if (!made) throw error;
    return reconcileStream(manager, definition, made);
  }
};

const findStream = async (manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> => {
  try {
    const { config } = await manager.streams.info(name);
    return config;
  } catch (error) {
    if (apiErrorCode(error) === API_ERROR.streamNotFound) return undefined;
    throw error;
  }
};

/** nats.js 2.29 has no type for settings newer than itself, and passes them on as they are (measured). */
const toConfig = ({
  name,
  purpose,
  settings,
}: StreamDefinition): Partial<StreamConfig> & { name: string } => {
  const { storage, subjects, ...others } = settings;
  const config = {
    ...others,
    name,
    description: purpose,
    subjects: [...subjects],
    storage: storage === "file" ? StorageType.File : StorageType.Memory,
  };
  return config as unknown as Partial<StreamConfig> & { name: string };
};

/** A server leaves out settings that have their zero value. */
const ZERO: Partial<Record<keyof StreamSettings, unknown>> = {
  deny_delete: false,
  deny_purge: false,
  allow_direct: false,
  allow_atomic: false,
  allow_msg_counter: false,
  allow_rollup_hdrs: false,
  compression: "none",
  max_age: 0,
  subject_transform: null,
};

export const differencesOf = (
  { name, settings }: StreamDefinition,
  found: StreamConfig,
): readonly StreamDifference[] => {
  const actual = new Map<string, unknown>(Object.entries(found));
  const differences: StreamDifference[] = [];
  for (const setting of Object.keys(settings) as (keyof StreamSettings)[]) {
    const wanted = JSON.stringify(settings[setting]);
    const value = JSON.stringify(actual.get(setting) ?? ZERO[setting]);
    if (value !== wanted) differences.push({ stream: name, setting, wanted, found: value ?? "nothing" });
  }
  return differences;
};
