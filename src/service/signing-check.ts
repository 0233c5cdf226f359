/** What `prooftrail doctor` reports about the signing keys. If none of them has signed here and others have, nothing is signed. */
import { createCheckpointStream } from "../jetstream/checkpoint-stream.ts";
import type { BrokerConnection } from "../jetstream/connection.ts";
import { hasSigned } from "../proof/verifier-keys.ts";
import type { Check } from "./check.ts";
import { CheckpointKeyError, checkpointKeyPath, findCheckpointKeys } from "./checkpoint-key.ts";
import type { Config } from "./config.ts";
import { KEEP_THE_OLD_KEY, STRANGERS } from "./sealing.ts";

const name = "signing keys";

export const signingCheck = async (
  { dataDir, checkpointKey: configured }: Pick<Config, "dataDir" | "checkpointKey">,
  connection: BrokerConnection,
): Promise<Check> => {
  try {
    const signed = await (await createCheckpointStream(connection)).publicKeys();
    const ring = await findCheckpointKeys({ dataDir, configured });
    if (ring && hasSigned(ring, signed)) return { name, state: "ok", detail: "one of them has signed here" };
    if (signed.length === 0) return { name, state: "ok", detail: "none has signed here yet" };
    const detail = ring ? STRANGERS : `${checkpointKeyPath(dataDir)} is missing, and a key has signed here`;
    return { name, state: "failed", detail, advice: KEEP_THE_OLD_KEY };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    if (error instanceof CheckpointKeyError) return { name, state: "failed", detail };
    return { name, state: "unchecked", detail };
  }
};
