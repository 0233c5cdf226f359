/** Moves the streams of an older version: before the service had an account of its own, they were in the server's global account. */
import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isThere } from "../../files/durable-file.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { BrokerFiles } from "./broker-files.ts";

/** Moves them if the new place is empty. `unclear`: both places have streams, and only a person knows which log goes on. */
export const moveFormerStore = async (
  files: BrokerFiles,
  logger: Logger,
): Promise<{ readonly kind: "in_place" } | { readonly kind: "unclear"; readonly former: string }> => {
  const former = join(dirname(files.account), "$G");
  if (!(await isThere(former))) return { kind: "in_place" };
  if (await isThere(files.account)) return { kind: "unclear", former };
  await rename(former, files.account);
  logger.info("the streams are in an account of their own now", { detail: files.account });
  return { kind: "in_place" };
};
