import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
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

test("a signing key whose file is empty ends the start with what belongs there", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "prooftrail-key-"));
  await writeFile(checkpointKeyPath(dataDir), "");
  const failure = await loadCheckpointKeys({ dataDir, configured: undefined }).catch((error) => error);
  expect(failure.message).toEndWith(
    "Where tree heads were signed before, put the key there that signed them, from a copy: no other may go on.",
  );
  await rm(dataDir, { recursive: true });
});
