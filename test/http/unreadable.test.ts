/** The log has a record that no version of the program wrote, under the identity of an event that is sent again. */
import { expect, test } from "bun:test";
import { messageIdOfEvent } from "../../src/log/message-id.ts";
import { connectToBroker } from "../../src/nats/connection.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { appenderOn, smallRecord } from "../support/log.ts";
import { event, startTestService } from "../support/service.ts";

test("only the event whose stored record cannot be read is refused: the other events of its batch are answered", async () => {
  await using broker = await startTestBroker();
  const [NATS_URL, NATS_PROVISION_URL] = [broker.url("service"), broker.url("provisioner")];
  await using service = await startTestService({ NATS_URL, NATS_PROVISION_URL });
  await using connection = await connectToBroker({ url: NATS_URL, name: "stranger", logger: silentLogger });
  await appenderOn(connection).append([smallRecord(messageIdOfEvent("default", "evt_0"))]);
  const events = Array.from({ length: 40 }, (_, index) => event({ event_id: `evt_${index}` }));
  const send = () => service.call("/v1/events/batch", { body: { events } });
  for (const duplicates of [0, 39]) {
    const { json } = await send();
    expect(json.data).toMatchObject({ accepted: 39, rejected: 1, duplicates });
    expect(json.data.errors).toMatchObject([{ index: 0, code: "log_unavailable" }]);
  }
});
