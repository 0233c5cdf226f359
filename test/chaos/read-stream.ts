/** Reads a stream from its beginning to the end that it has at the call, as a plain NATS client that notices if it is given nothing. */
import {
  AckPolicy,
  connect,
  DeliverPolicy,
  type JsMsg,
  type NatsConnection,
  nanos,
  ReplayPolicy,
} from "nats";
import { until } from "../support/until.ts";

/** `url`: the URL of one broker, or of several, separated by commas. */
export const connectConsumer = (url: string): Promise<NatsConnection> => {
  const servers = url.split(",").map((each) => new URL(each));
  return connect({
    servers: servers.map(({ host }) => host),
    user: servers[0]?.username ?? "",
    pass: servers[0]?.password ?? "",
  });
};

const GROUP_MESSAGES_MAX = 5_000;
const GROUP_MS_MAX = 5_000;
/** The broker removes a consumer this long after its reader has died. */
const CONSUMER_IDLE_MS_MAX = 60_000;

/**
 * Each group has its own consumer, so another one reads on if one delivers nothing: a consumer lives on one replica, and one that is behind does not say so.
 * The ordered consumer of nats.js 2.29.3 waits forever then, and half a minute if a consumer could not be made at once (37 s were measured).
 */
export async function* readStream(
  consumerUrl: string,
  stream: string,
  { groupMessagesMax = GROUP_MESSAGES_MAX, groupMsMax = GROUP_MS_MAX } = {},
): AsyncGenerator<JsMsg> {
  const nats = await connectConsumer(consumerUrl);
  try {
    const manager = await nats.jetstreamManager({ checkAPI: false });
    const { state } = await manager.streams.info(stream);
    const last = state.messages > 0 ? state.last_seq : 0;
    const readGroup = async (from: number): Promise<readonly JsMsg[]> => {
      const { name } = await manager.consumers.add(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
        ack_policy: AckPolicy.None,
        replay_policy: ReplayPolicy.Instant,
        mem_storage: true,
        num_replicas: 1,
        inactive_threshold: nanos(CONSUMER_IDLE_MS_MAX),
      });
      const consumer = await nats.jetstream().consumers.get(stream, name);
      const group: JsMsg[] = [];
      for await (const message of await consumer.fetch({
        max_messages: groupMessagesMax,
        expires: groupMsMax,
      })) {
        // A message before this one was lost on its way.
        if (message.info.deliverySequence !== group.length + 1) break;
        group.push(message);
        if (message.seq >= last) break;
      }
      void consumer.delete().catch(() => undefined);
      return group;
    };
    let next = 1;
    while (next <= last) {
      const givesMore = async (): Promise<readonly JsMsg[] | false> => {
        // A broker may be away for a moment.
        const group = await readGroup(next).catch(() => []);
        return group.length > 0 && group;
      };
      const what = `the stream ${stream} gives ${next} of ${last}`;
      const group = await until(what, givesMore);
      next = (group.at(-1)?.seq ?? last) + 1;
      yield* group;
    }
  } finally {
    await nats.close();
  }
}
