import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CheckpointKeyError, checkpointKeyPath, loadCheckpointKeys } from "./checkpoint-key.ts";

test("a signing key that cannot be read ends the start with its path: a container makes a folder where the file of a mount is missing", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "prooftrail-key-"));
  const path = checkpointKeyPath(dataDir);
  await mkdir(path);
  const failure = await loadCheckpointKeys({ dataDir, configured: undefined }).catch((error) => error);
  expect(failure).toBeInstanceOf(CheckpointKeyError);
  expect(failure.message).toStartWith(`${path} cannot be read: EISDIR`);
  await rm(dataDir, { recursive: true });
});
