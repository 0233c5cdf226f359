/** The keys that sign tree heads: given, or created on the first start and kept in DATA_DIR, readable by the owner only. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type KeyRing, readKeyRing } from "../proof/key-ring.ts";
import { SEED_BYTES } from "../proof/signed-note.ts";
import { missingAs, syncFolder } from "../runtime/durable-file.ts";
import { messageOf } from "../runtime/error-text.ts";
import { RefusedError } from "../runtime/refused-error.ts";
import { createWhole } from "./data-folder.ts";

export const checkpointKeyPath = (dataDir: string): string => join(dataDir, "checkpoint.key");

const HEADER = `# Signs the tree heads of this installation. Whoever has it can sign a false history: keep it secret, and keep a copy.
# 64 hex digits are the seed of an Ed25519 key. To rotate, add a new one above the old: both sign then. When everybody trusts the new one, replace the
# old by "public:" and its public key (the line of GET /v1/log/key), so that what it signed stays verifiable.
`;

interface Where {
  readonly dataDir: string;
  readonly configured: string | undefined;
}

/** Creates the keys if there are none yet. Throws RefusedError. */
export const loadCheckpointKeys = async (where: Where): Promise<KeyRing> => {
  const path = checkpointKeyPath(where.dataDir);
  return (await findCheckpointKeys(where)) ?? ringIn(path, await make(path));
};

/** The same for commands that only look: undefined if the keys do not exist yet. */
export const findCheckpointKeys = async ({ dataDir, configured }: Where): Promise<KeyRing | undefined> => {
  if (configured !== undefined) return ringIn("CHECKPOINT_KEY", configured);
  const path = checkpointKeyPath(dataDir);
  const text = await readFile(path, "utf8").catch(missingAs(undefined)).catch(unreadable(path));
  return text === undefined ? undefined : ringIn(path, text);
};

const ringIn = (where: string, text: string): KeyRing => {
  const read = readKeyRing(text);
  if (read.kind === "malformed")
    throw new RefusedError(
      `${where} cannot be used: ${read.detail}. If tree heads were signed before, restore the key that signed them from a copy: no other may continue.`,
    );
  return read.ring;
};

const unreadable = (path: string) => (error: unknown) => {
  throw new RefusedError(
    `${path} cannot be read: ${messageOf(error)}. The user that runs the service must own it.`,
  );
};

/**
 * Two sealers that share the folder and start at once end up with one key. It is on disk before anything is signed with it: a key lost in a power
 * failure would leave tree heads that nobody may extend.
 */
const make = async (path: string): Promise<string> => {
  await createWhole(path, `${HEADER}${randomBytes(SEED_BYTES).toString("hex")}\n`);
  await syncFolder(dirname(path));
  return readFile(path, "utf8");
};
