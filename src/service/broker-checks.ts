/**
 * What `prooftrail doctor` reports about the broker: whether it runs, syncs, has the streams configured right, and gives the service its
 * rights.
 */

import type { StreamDefinition } from "../../streams/stream.ts";
import { topology } from "../../streams/topology.ts";
import { BROKER_LOOK_MS_MAX, DISK_FREE_BYTES_LOW, DISK_FREE_BYTES_MIN } from "../limits.ts";
import { describeError } from "../nats/api-errors.ts";
import { accountUsage } from "../nats/broker-health.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { clockOffMs, missingRights, rightsOf, seeOneStream, UNASKED_RIGHTS } from "../nats/examine.ts";
import { differenceText, findLostStreams, inspectStream } from "../nats/reconcile.ts";
import { sizeText } from "../runtime/size-text.ts";
import { HAVE_ONE_LOG } from "./broker-contact.ts";
import { addressOf, connectAll } from "./broker-place.ts";
import { type BrokerState, lookAtState } from "./broker-watch.ts";
import { type Check, clockCheck, failed, ok, unchecked, warned } from "./check.ts";
import type { Config } from "./config.ts";
import { headsCheck, signingCheck } from "./proof-checks.ts";
import { BRING_BACK } from "./stream-keeper.ts";
import { viewChecks } from "./view-checks.ts";

/** Also checks what depends on the broker: clock, views and signing keys. */
export async function* brokerChecks(config: Config): AsyncGenerator<Check> {
  const holdsTheLog = unchecked("streams, views", "the broker holds the log");
  const found = await addressOf(config);
  if (found.kind === "unknown") {
    yield failed("broker", found.detail, "Start the service: it runs the broker.");
    yield holdsTheLog;
    return;
  }
  await using stack = new AsyncDisposableStack();
  const opened = await connectAll(found, stack);
  if (opened.kind === "refused") {
    yield failed("broker", opened.detail, opened.advice);
    yield holdsTheLog;
    return;
  }
  const { service, provisioner } = opened;
  yield ok("broker", service.describe());
  const definitions = topology({ replicas: config.replicas });
  const seen = await lookAtState(service, definitions, addressesIn(config.natsUrl));
  yield* stateChecks(seen, config.replicas);
  const answers = yield* jetStreamChecks(service);
  yield syncCheck(found.configuration);
  if (!(answers || isClustered(service))) {
    yield unchecked("rights, streams, views", "nobody answers for JetStream, which holds the log");
    return;
  }
  yield* rightsChecks(service);
  yield* streamChecks(provisioner, definitions);
  yield* accountChecks(service, provisioner);
  yield* clockChecks(service);
  yield* viewChecks(config, service);
  if (config.headsCopy !== undefined) yield await headsCheck(config.headsCopy, service);
  if (config.roles.includes("sealer")) yield await signingCheck(config, service);
}

const isClustered = ({ nats }: BrokerConnection): boolean => nats.info?.cluster !== undefined;

const addressesIn = (natsUrl: string | undefined): readonly string[] =>
  natsUrl?.split(",").map((url) => new URL(url.trim()).host) ?? [];

function* stateChecks({ streams, troubles }: BrokerState, replicas: number): Generator<Check> {
  for (const { id, isBlocking, detail, advice } of troubles) {
    const state = isBlocking ? failed : warned;
    yield state(id === "stream_short" ? "copies" : "brokers", detail, advice);
  }
  if (replicas > 1 && streams.every((stream) => stream.kind === "led" && stream.behind.length === 0))
    yield ok("copies", `every stream is whole on ${replicas} servers`);
}

/** Returns whether JetStream answers. */
async function* jetStreamChecks(connection: BrokerConnection): AsyncGenerator<Check, boolean> {
  const name = "storage";
  try {
    const { bytes, bytesMax = Number.POSITIVE_INFINITY } = (
      await accountUsage(connection.nats, BROKER_LOOK_MS_MAX)
    ).disk;
    const free = bytesMax - bytes;
    const limit = Number.isFinite(bytesMax)
      ? ` of ${sizeText(bytesMax)} for the account`
      : ", no limit for the account";
    const detail = `JetStream is on; ${sizeText(bytes)} on disk${limit}`;
    if (free >= DISK_FREE_BYTES_LOW) yield ok(name, detail);
    else {
      const state = free < DISK_FREE_BYTES_MIN ? failed : warned;
      yield state(name, detail, "Raise the account's limit.");
    }
    return true;
  } catch (error) {
    const advice = isClustered(connection) ? `${NO_LEADER} ${NO_JETSTREAM}` : NO_JETSTREAM;
    yield failed(name, `JetStream does not answer: ${describeError(error)}`, advice);
    return false;
  }
}

const NO_LEADER =
  "See that more than half of the cluster's servers run: with fewer JetStream has no leader, and no event is acknowledged.";
const NO_JETSTREAM =
  "See that the server's configuration has a jetstream block, and that JetStream is enabled for the account of the service's user where there are accounts.";

/** NATS reports it only on its monitoring port, so it is unknown for a broker of others. */
const syncCheck = (configuration: string | undefined): Check => {
  if (configuration === undefined)
    return warned(
      "sync",
      "whether the broker syncs before it acknowledges cannot be seen from here",
      "See that its jetstream block has sync_interval: always. Without it a power failure loses acknowledged events.",
    );
  if (/^\s*sync_interval: always$/m.test(configuration)) return ok("sync", "sync_interval: always");
  return failed(
    "sync",
    "the configuration of our broker has no sync_interval: always",
    "Restart the service: it writes the configuration anew.",
  );
};

async function* rightsChecks({ nats }: BrokerConnection): AsyncGenerator<Check> {
  const name = "rights";
  const [rights, missing] = await Promise.all([rightsOf(nats), missingRights(nats)]);
  const named = (right: string): string =>
    rights
      .filter((each) => each.right === right)
      .map(({ operation }) => operation)
      .join(", ");
  const [granted, unknown] = [named("granted"), named("unknown")];
  if (granted !== "")
    yield failed(
      name,
      `the service's user may ${granted}: anybody with its password, or without one where it has none, can empty the log`,
      "Give the service a user with the permissions in streams/permissions.ts, and NATS_PROVISION_URL another.",
    );
  if (missing.length > 0)
    yield failed(
      name,
      `the service's user may not publish on ${missing.join(", ")}: what needs it does not work`,
      "Give it the permissions in streams/permissions.ts of this version; those of an earlier one may be fewer.",
    );
  if (granted !== "" || missing.length > 0) return;
  yield unknown === ""
    ? ok(
        name,
        `the service's user can neither change nor delete a stream, and has the rights that it needs (not tested, because consumers would receive the test: whether it may publish on ${UNASKED_RIGHTS.join(", ")})`,
      )
    : warned(name, `no answer to whether the service's user may ${unknown}`, "Try again.");
}

async function* streamChecks(
  { nats }: BrokerConnection,
  definitions: readonly StreamDefinition[],
): AsyncGenerator<Check> {
  const name = "streams";
  const wrong: Check[] = [];
  const missing: string[] = [];
  try {
    const lost = await findLostStreams(nats, definitions);
    if (lost.length > 0)
      wrong.push(
        failed(name, `the broker no longer has ${lost.join(", ")}, which it had before`, BRING_BACK),
      );
    for (const definition of definitions) {
      const standing = await inspectStream(nats, definition);
      if (standing.kind === "missing" && !lost.includes(definition.name)) missing.push(definition.name);
      if (standing.kind !== "different") continue;
      for (const difference of standing.differences)
        wrong.push(
          standing.isRepairedAtStart
            ? warned(name, differenceText(difference), "Restart the service: it corrects it.")
            : failed(
                name,
                differenceText(difference),
                "Correct it by hand; the service must not, and does not start with it.",
              ),
        );
    }
  } catch (error) {
    wrong.push(
      warned(
        name,
        `the streams could not be looked at: ${describeError(error)}`,
        "Look again in a moment: a cluster that elects a leader does not answer. If it stays so, the user in NATS_PROVISION_URL needs $JS.API.STREAM.INFO.*",
      ),
    );
  }
  if (missing.length > 0) {
    const detail = `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`;
    yield failed(name, detail, "Start the service: it makes them.");
  }
  yield* wrong;
  if (missing.length + wrong.length === 0)
    yield ok(name, `all ${definitions.length} are there, with the right settings`);
}

/** If a stream cannot be read, the checks of streams and clock report it. */
async function* accountChecks(
  service: BrokerConnection,
  provisioner: BrokerConnection,
): AsyncGenerator<Check> {
  if (await seeOneStream([service.nats, provisioner.nats], "AUDIT").catch(() => true)) return;
  yield failed(
    "streams",
    "the users of NATS_URL and NATS_PROVISION_URL do not see the same log: what one makes the other does not find",
    HAVE_ONE_LOG,
  );
}

async function* clockChecks({ nats }: BrokerConnection): AsyncGenerator<Check> {
  const off = await clockOffMs(nats, "AUDIT").catch(() => undefined);
  yield off === undefined
    ? unchecked("broker's clock", "it does not tell its time")
    : clockCheck("broker's clock", off);
}
