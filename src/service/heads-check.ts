/** What `prooftrail doctor` reports about HEADS_COPY: whether the log reaches the heads there. */

import { createCheckpointStream } from "../jetstream/checkpoint-stream.ts";
import type { BrokerConnection } from "../jetstream/connection.ts";
import { createLogReader } from "../jetstream/reader.ts";
import type { CheckpointStore } from "../proof/checkpoint-store.ts";
import { type Check, unchecked } from "./check.ts";
import { openHeadsFolder } from "./heads-folder.ts";
import { troubleOfCopy } from "./log-end.ts";

const name = "heads copy";

/** A folder that is not mounted looks like one without heads, and so does a new one until the next head is signed. */
export const NO_HEADS = "HEADS_COPY holds no heads, although the log has signed ones";
const IS_IT_MOUNTED = "See that it is mounted. If it is new, the next tree head that is signed goes there.";

export const hasHeads = async (checkpoints: Pick<CheckpointStore, "since">): Promise<boolean> => {
  for await (const _ of checkpoints.since(0)) return true;
  return false;
};

export const headsCheck = async (path: string, connection: BrokerConnection): Promise<Check> => {
  try {
    const folder = openHeadsFolder(path);
    const trouble = await troubleOfCopy(await createLogReader(connection), folder);
    if (trouble) return { name, state: "failed", detail: trouble.detail, advice: trouble.advice };
    const { heads } = await folder.read();
    if (!folder.isEmpty()) return { name, state: "ok", detail: `the log has all of its ${heads.size} heads` };
    if (await hasHeads(await createCheckpointStream(connection)))
      return { name, state: "warning", detail: NO_HEADS, advice: IS_IT_MOUNTED };
    return { name, state: "ok", detail: `${path} holds no signed head yet` };
  } catch (error) {
    return unchecked(
      name,
      error instanceof Error ? error.message : String(error),
      "See that HEADS_COPY is mounted, and that this user may read it.",
    );
  }
};
