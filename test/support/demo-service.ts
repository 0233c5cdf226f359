/** The service with the history of `prooftrail demo`, in this process. */
import { cp, rm } from "node:fs/promises";
import { DEMO_TENANT } from "../../src/cli/commands/demo.ts";
import { demoHistory } from "../../src/cli/demo/history.ts";
import { readConfig } from "../../src/service/config.ts";
import { ownBrokerFiles } from "../../src/service/data-folder.ts";
import { writePast } from "../../src/service/past-log.ts";
import { testBrokerBinary } from "./broker.ts";
import { type LastingFolder, lastingFolder, sharedByFiles } from "./lasting-folder.ts";
import { dataFolder } from "./process.ts";
import { ADMIN_KEY, startTestService, type TestService } from "./service.ts";
import { until } from "./until.ts";

export interface DemoService extends AsyncDisposable {
  readonly service: TestService;
  /** Of the tenant `demo`, with the scopes of a reader. */
  readonly key: string;
  /** Makes a key of the tenant `demo`, and gives it. */
  makeSeat(request: object): Promise<string>;
}

const SETTINGS = { EXTRA_EVENT_TYPES: "sdk.heartbeat", LOG_LEVEL: "error", ADMIN_API_KEY: ADMIN_KEY };

/** Path of data that was made already (test/with-shared-parts.ts). */
export const DEMO_SETTING = "PROOFTRAIL_TEST_DEMO";

/** If none is set, it is made at the first request, which takes 1.3 s of CPU, and is removed with this process. */
const demoData = sharedByFiles(
  async (): Promise<string> => process.env[DEMO_SETTING] ?? (await makeDemoData()).path,
);

/** The data of a service that has sealed and projected the history, and was stopped. */
export const makeDemoData = async (): Promise<LastingFolder> => {
  const folder = lastingFolder("demo");
  const settings = { ...SETTINGS, DATA_DIR: folder.path };
  const read = readConfig({ ...settings, NATS_SERVER_BIN: await testBrokerBinary() });
  if (read.kind === "invalid") throw new Error(read.errors.join("\n"));
  const { entries } = demoHistory(new Date().toISOString().slice(0, "2026-11-29".length));
  await writePast({ config: read.config, tenant: DEMO_TENANT, events: entries });
  await using service = await startTestService(settings);
  const key = await service.makeKey(DEMO_TENANT, ["events:read"]);
  await service.call(`/v1/obligations?min_sequence=${entries.length}`, { key });
  await until("the history is sealed", async () => {
    const { text } = await service.call("/v1/log/checkpoint", { key });
    return Number(text.split("\n")[1]) >= entries.length;
  });
  return folder;
};

export const startDemoService = async (): Promise<DemoService> => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await dataFolder());
  await cp(await demoData(), folder.path, { recursive: true });
  // The brokers of several copies run at once.
  await rm(ownBrokerFiles({ dataDir: folder.path }).port);
  const service = stack.use(await startTestService({ ...SETTINGS, DATA_DIR: folder.path }));
  const makeSeat = async (request: object): Promise<string> => {
    const answer = await service.call("/v1/keys", { body: { tenant: DEMO_TENANT, ...request } });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.json.data.api_key;
  };
  const key = await makeSeat({ scopes: ["events:read"] });
  const kept = stack.move();
  return { service, key, makeSeat, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
