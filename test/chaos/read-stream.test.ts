import { expect, spyOn, test } from "bun:test";
import { appenderOn, connectAs, smallRecord, startTestLog } from "../support/log.ts";
import { readStream } from "./read-stream.ts";

test("chaos reads the whole log even if a consumer delivers nothing, and misses or repeats no message", async () => {
  await using log = await startTestLog();
  const ids = ["a", "b", "c", "d", "e"];
  await appenderOn(log.connection).append(ids.map((id) => smallRecord(id)));
  const nats = await connectAs(log.broker, "consumer");
  const { consumers } = await nats.jetstreamManager({ checkAPI: false });
  // The consumer is paused, which looks like one on a replica that is behind: it sends heartbeats and nothing else.
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
  // The paused consumer, and one more for every two messages.
  expect(add).toHaveBeenCalledTimes(2 + 3);
  add.mockRestore();
  await nats.close();
});
