/** Somebody changes the stream of our own broker so that it refuses everything. */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { connect, type StreamConfig } from "nats";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const REFUSING: readonly (readonly [string, Partial<StreamConfig>])[] = [
  ["max_msgs must be -1, is 1", { max_msgs: 1 }],
  ['subjects must be ["audit.>"], is ["audit.nobody.>"]', { subjects: ["audit.nobody.>"] }],
];

test.concurrent.each(REFUSING)(
  "a log of our own broker that refuses everything because of its %s is reported, and taken again when that is changed back",
  async (told, odd) => {
    await using own = await startTestService();
    const directory = join(own.dataDir, "broker");
    const credentials = JSON.parse(await readFile(join(directory, "credentials.json"), "utf8"));
    const port = Number(await readFile(join(directory, "port"), "utf8"));
    const user = { user: "provisioner", pass: credentials.provisioner };
    const nats = await connect({ servers: `127.0.0.1:${port}`, ...user });
    const ownStreams = (await nats.jetstreamManager({ checkAPI: false })).streams;
    const { config } = await ownStreams.info("AUDIT");
    let count = 0;
    const send = async () =>
      (await own.call("/v1/events", { body: event({ event_id: `evt_${count++}` }) })).status;
    expect(await send()).toBe(202);
    await ownStreams.update("AUDIT", { ...config, ...odd });
    const isTold = async () => {
      expect(await send()).toBe(503);
      const { reasons } = (await own.call("/health/ready")).json;
      return reasons !== undefined && String(reasons).includes(`AUDIT.${told}`);
    };
    await until("it is told", isTold);
    const changeBack = () => ownStreams.update("AUDIT", config).then(Boolean, () => false);
    await until("the restarted broker has changed it back", changeBack);
    await nats.close();
    await until("it is taken again", async () => (await send()) === 202);
    await until("it is ready", async () => (await own.call("/health/ready")).status === 200);
  },
);
