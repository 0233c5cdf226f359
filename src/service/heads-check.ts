/** What `prooftrail doctor` reports about HEADS_COPY: whether the log reaches the heads there. */
import type { BrokerConnection } from "../jetstream/connection.ts";
import { createLogReader } from "../jetstream/reader.ts";
import { type Check, unchecked } from "./check.ts";
import { openHeadsFolder } from "./heads-folder.ts";
import { behindCopy } from "./log-end.ts";

const name = "heads copy";

export const headsCheck = async (path: string, connection: BrokerConnection): Promise<Check> => {
  try {
    const known = await openHeadsFolder(path).read();
    if (known.end === undefined) return { name, state: "ok", detail: `${path} holds no signed head yet` };
    const behind = await behindCopy(await createLogReader(connection), known);
    if (behind) return { name, state: "failed", ...behind };
    return { name, state: "ok", detail: `the log has all of its ${known.heads.size} heads` };
  } catch (error) {
    return unchecked(
      name,
      error instanceof Error ? error.message : String(error),
      "See that HEADS_COPY is mounted, and that this user may read it.",
    );
  }
};
