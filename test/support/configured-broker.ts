/** A broker with a changed copy of our configuration, and its streams; removed when disposed. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "nats";
import { brokerFiles } from "../../src/nats/broker/broker-files.ts";
import { configure } from "../../src/nats/broker/configure.ts";
import { reconcileStreams } from "../../src/nats/reconcile.ts";
import type { BrokerUser } from "../../streams/permissions.ts";
import { topology } from "../../streams/topology.ts";
import { silentLogger, testBrokerBinary } from "./broker.ts";
import { until } from "./until.ts";

const CREDENTIALS = { service: "s", provisioner: "p", consumer: "c" };

export interface ConfiguredBroker extends AsyncDisposable {
  url(user: BrokerUser): string;
  /** Address of its monitoring; empty if the configuration has none. */
  readonly monitor: string;
}

export const startConfiguredBroker = async (
  change: (configuration: string) => string,
): Promise<ConfiguredBroker> => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-configured-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const files = brokerFiles(folder);
  await mkdir(files.run, { recursive: true });
  const configuration = change(configure({ files, credentials: CREDENTIALS, port: undefined }));
  await writeFile(files.configuration, configuration);
  const child = spawn(await testBrokerBinary(), ["-c", files.configuration], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  stack.defer(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const { address, monitor } = await until("the broker tells its ports", async () => {
    const name = (await readdir(files.run)).find((each) => each.endsWith(".ports"));
    const text = name === undefined ? "" : await readFile(join(files.run, name), "utf8").catch(() => "");
    const told = /nats:\/\/[^"]+/.exec(text)?.[0];
    return told === undefined
      ? undefined
      : { address: told, monitor: /http:\/\/[^"]+/.exec(text)?.[0] ?? "" };
  });
  const provisioner = await connect({
    servers: address,
    user: "provisioner",
    pass: CREDENTIALS.provisioner,
  });
  await reconcileStreams({ provisioner, definitions: topology({ replicas: 1 }), logger: silentLogger });
  await provisioner.close();
  const kept = stack.move();
  return {
    monitor,
    url: (user) => address.replace("nats://", `nats://${user}:${CREDENTIALS[user]}@`),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
