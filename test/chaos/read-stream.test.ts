import { expect, spyOn, test } from "bun:test";
import { appenderOn, connectAs, smallRecord, startTestLog } from "../support/log.ts";
import { readStream } from "./read-stream.ts";

test("the log that chaos holds against what was acknowledged is read past a consumer that gives nothing, and no message is missed or repeated", async () => {
  await using log = await startTestLog();
  const ids = ["a", "b", "c", "d", "e"];
  await appenderOn(log.connection).append(ids.map((id) => smallRecord(id)));
  const nats = await connectAs(log.broker, "consumer");
  const { consumers } = await nats.jetstreamManager({ checkAPI: false });
  // Paused, which looks as on a replica that is behind: its heartbeats come, and nothing else.
  const pause_until = new Date(Date.now() + 3_600_000).toISOString();
  const add = spyOn(Object.getPrototypeOf(consumers), "add");
  add.mockImplementationOnce((stream: string, config: object) =>
    consumers.add(stream, { ...config, pause_until }),
  );
  const seen: string[] = [];
  const groups = { groupMessagesMax: 2, groupMsMax: 1_000 };
  for await (const message of readStream(log.broker.url("consumer"), "AUDIT", groups))
    seen.push(message.string());
  expect(seen).toEqual(ids.map((id) => expect.stringContaining(`"id":"${id}"`)));
  // The paused one, and one for each two.
  expect(add).toHaveBeenCalledTimes(2 + 3);
  add.mockRestore();
  await nats.close();
});
