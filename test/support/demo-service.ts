/** The service with the history of `prooftrail demo`, in this process. */

import { DEMO_TENANT } from "../../src/cli/commands/demo.ts";
import { demoHistory } from "../../src/cli/demo/history.ts";
import { readConfig } from "../../src/service/config.ts";
import { writePast } from "../../src/service/past-log.ts";
import { testBrokerBinary } from "./broker.ts";
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

export const startDemoService = async (): Promise<DemoService> => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await dataFolder());
  const settings = {
    DATA_DIR: folder.path,
    EXTRA_EVENT_TYPES: "sdk.heartbeat",
    LOG_LEVEL: "error",
    NATS_SERVER_BIN: await testBrokerBinary(),
    ADMIN_API_KEY: ADMIN_KEY,
  };
  const read = readConfig(settings);
  if (read.kind === "invalid") throw new Error(read.errors.join("\n"));
  const { entries } = demoHistory(new Date().toISOString().slice(0, "2026-11-29".length));
  await writePast({ config: read.config, tenant: DEMO_TENANT, events: entries });
  const service = stack.use(await startTestService(settings));
  const key = await service.makeKey(DEMO_TENANT, ["events:read"]);
  await service.call(`/v1/obligations?min_sequence=${entries.length}`, { key });
  await until("the history is sealed", async () => {
    const { text } = await service.call("/v1/log/checkpoint", { key });
    return Number(text.split("\n")[1]) >= entries.length;
  });
  const makeSeat = async (request: object): Promise<string> => {
    const answer = await service.call("/v1/keys", { body: { tenant: DEMO_TENANT, ...request } });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.json.data.api_key;
  };
  const kept = stack.move();
  return { service, key, makeSeat, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
