/** The key of the tenant `demo`, and what only a running service does: it waives an obligation. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SCOPES } from "../../access/scopes.ts";
import { missingAs, writeDurably } from "../../files/durable-file.ts";
import { type Api, createApi } from "../api.ts";
import { failure } from "../failure.ts";
import { asRecord, asText } from "../json.ts";
import { CLI_ANSWER_MS_MAX } from "../limits.ts";

export const DEMO_TENANT = "demo";

/** Made by the first start, kept in the folder. */
export const demoKey = async (options: {
  readonly url: string;
  readonly dataDir: string;
  readonly waive: { readonly obligation: string; readonly reason: string };
  /** How many events the log holds. */
  readonly events: number;
}): Promise<{ readonly api: Api; readonly path: string }> => {
  const { url, dataDir, waive, events } = options;
  const path = join(dataDir, "demo.key");
  const address = { url, isLoopback: true, source: "the demo" };
  const apiFor = (text: string, source: string): Api => createApi(address, { text, source });
  const kept = await readFile(path, "utf8").catch(missingAs(undefined));
  if (kept !== undefined) {
    const api = apiFor(kept.trim(), path);
    await untilRead(api, events);
    return { api, path };
  }
  const adminPath = join(dataDir, "admin.key");
  const admin = apiFor((await readFile(adminPath, "utf8")).trim(), adminPath);
  const body = JSON.stringify({ tenant: DEMO_TENANT, name: "demo", scopes: SCOPES });
  const { value } = await admin.ask({ path: "/v1/keys", body });
  const key = asText(asRecord(asRecord(value)?.data)?.api_key);
  if (key === undefined) throw failure("unexpected_answer", "The answer to POST /v1/keys has no api_key.");
  const api = apiFor(key, "the demo");
  await untilRead(api, events);
  const { obligation, reason } = waive;
  const tried = await api.attempt({
    path: `/v1/obligations/${encodeURIComponent(obligation)}/waive`,
    body: JSON.stringify({ reason }),
  });
  if (tried.kind === "unreachable") throw tried.failure;
  // An earlier start may have ended behind the waiver.
  if (!tried.response.ok && tried.response.status !== 409)
    throw failure(
      "unexpected_answer",
      `The obligation ${obligation} was not waived: ${await tried.response.text()}`,
    );
  await writeDurably(path, `${key}\n`);
  return { api, path };
};

/** Views that are being made answer 503 until they are whole, and there is no tree head before the first seal. */
const untilRead = async (api: Api, events: number): Promise<void> => {
  const giveUpAt = performance.now() + CLI_ANSWER_MS_MAX;
  for (const path of [`/v1/obligations?min_sequence=${events}`, "/v1/log/checkpoint"])
    for (;;) {
      const tried = await api.attempt({ path });
      if (tried.kind === "answered" && tried.response.ok) break;
      if (performance.now() > giveUpAt)
        throw failure(
          "unreachable",
          "The service has not read its own log in time.",
          "Start the demo again.",
        );
      await delay(POLL_MS);
    }
};

const POLL_MS = 100;
