import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RefusedError } from "../runtime/refused-error.ts";
import { checkpointKeyPath, loadCheckpointKeys } from "./checkpoint-key.ts";

test("an unreadable signing key stops the start and names its path, for example a folder that a container made for a missing mount", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "prooftrail-key-"));
  const path = checkpointKeyPath(dataDir);
  await mkdir(path);
  const failure = await loadCheckpointKeys({ dataDir, configured: undefined }).catch((error) => error);
  expect(failure).toBeInstanceOf(RefusedError);
  expect(failure.message).toStartWith(`${path} cannot be read: EISDIR`);
  await rm(dataDir, { recursive: true });
});

test("an empty file of the signing key stops the start and says what belongs there", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "prooftrail-key-"));
  await writeFile(checkpointKeyPath(dataDir), "");
  const failure = await loadCheckpointKeys({ dataDir, configured: undefined }).catch((error) => error);
  expect(failure.message).toEndWith(
    "If tree heads were signed before, restore the key that signed them from a copy: no other may continue.",
  );
  await rm(dataDir, { recursive: true });
});
