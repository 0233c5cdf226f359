/** What `prooftrail doctor` reports about what proofs rest on: whether the log reaches the heads in HEADS_COPY, and the signing keys. */
import { createCheckpointStream } from "../nats/checkpoint-stream.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { createLogReader } from "../nats/reader.ts";
import type { CheckpointStore } from "../proof/checkpoint-store.ts";
import { hasSigned } from "../proof/verifier-keys.ts";
import { type Check, failed, ok, unchecked, warned } from "./check.ts";
import { CheckpointKeyError, checkpointKeyPath, findCheckpointKeys } from "./checkpoint-key.ts";
import type { Config } from "./config.ts";
import { openHeadsFolder } from "./heads-folder.ts";
import { troubleOfCopy } from "./log-end.ts";
import { KEEP_THE_OLD_KEY, STRANGERS } from "./sealing.ts";

/** A folder that is not mounted looks like one without heads, and so does a new one until the next head is signed. */
export const NO_HEADS = "HEADS_COPY holds no heads, although the log has signed ones";
const IS_IT_MOUNTED = "See that it is mounted. If it is new, the next tree head that is signed goes there.";

export const hasHeads = async (checkpoints: Pick<CheckpointStore, "since">): Promise<boolean> => {
  for await (const _ of checkpoints.since(0)) return true;
  return false;
};

export const headsCheck = async (path: string, connection: BrokerConnection): Promise<Check> => {
  const name = "heads copy";
  try {
    const folder = openHeadsFolder(path);
    const trouble = await troubleOfCopy(await createLogReader(connection), folder);
    if (trouble) return failed(name, trouble.detail, trouble.advice);
    const { heads } = await folder.read();
    if (!folder.isEmpty()) return ok(name, `the log has all of its ${heads.size} heads`);
    if (await hasHeads(await createCheckpointStream(connection)))
      return warned(name, NO_HEADS, IS_IT_MOUNTED);
    return ok(name, `${path} holds no signed head yet`);
  } catch (error) {
    const advice = "See that HEADS_COPY is mounted, and that this user may read it.";
    return unchecked(name, error instanceof Error ? error.message : String(error), advice);
  }
};

/** If none of the keys has signed here and others have, nothing is signed. */
export const signingCheck = async (
  { dataDir, checkpointKey: configured }: Pick<Config, "dataDir" | "checkpointKey">,
  connection: BrokerConnection,
): Promise<Check> => {
  const name = "signing keys";
  try {
    const signed = await (await createCheckpointStream(connection)).publicKeys();
    const ring = await findCheckpointKeys({ dataDir, configured });
    if (ring && hasSigned(ring, signed)) return ok(name, "one of them has signed here");
    if (signed.length === 0) return ok(name, "none has signed here yet");
    const missing = `${checkpointKeyPath(dataDir)} is missing, and a key has signed here`;
    return failed(name, ring ? STRANGERS : missing, KEEP_THE_OLD_KEY);
  } catch (error) {
    const state = error instanceof CheckpointKeyError ? failed : unchecked;
    return state(name, error instanceof Error ? error.message : String(error));
  }
};
