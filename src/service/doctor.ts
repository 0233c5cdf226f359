/** What `prooftrail doctor` checks on the machine of a service: settings, sign-in provider, folder, disk, broker, streams, views, keys. It changes nothing. */
import { randomBytes } from "node:crypto";
import { topology } from "../../streams/topology.ts";
import { createSignInProvider, type SignInSettings } from "../access/sign-in-provider.ts";
import { BROKER_REQUEST_MS_MAX } from "../limits.ts";
import { brokerUrl, CredentialsError, loadCredentials, readLastPort } from "../nats/broker/broker-files.ts";
import { type BrokerState, lookAtBroker } from "../nats/broker-health.ts";
import { createCheckpointStream } from "../nats/checkpoint-stream.ts";
import { type BrokerConnection, BrokerRefusedError, connectToBroker } from "../nats/connection.ts";
import { madeAt, missingRights, rightsOf, UNASKED_RIGHTS } from "../nats/examine.ts";
import { createLogReader } from "../nats/reader.ts";
import { differencesOf, differenceText, lostStreams } from "../nats/reconcile.ts";
import { hasSigned } from "../proof/key-ring.ts";
import { isThere } from "../runtime/durable-file.ts";
import { sizeText } from "../runtime/size-text.ts";
import { createLogger } from "../telemetry/logger.ts";
import { HAVE_ONE_LOG } from "./broker-contact.ts";
import { troublesIn } from "./broker-watch.ts";
import { type Check, failed, ok, unchecked, warned } from "./check.ts";
import { CheckpointKeyError, checkpointKeyPath, findCheckpointKeys } from "./checkpoint-key.ts";
import { type Config, misspeltSettings, readConfig } from "./config.ts";
import { AS_ITS_USER, closedFolder, ownBrokerFiles, readOnlyFolder } from "./data-folder.ts";
import { copyProblem, openHeadsFolder } from "./heads-folder.ts";
import { diskTroubles, freeBytes } from "./health.ts";
import { blocking, HEALTH_REASONS, type Trouble, warning } from "./health-reasons.ts";
import { troubleOfCopy } from "./log-end.ts";
import { KEEP_THE_OLD_KEY, STRANGERS } from "./sealer.ts";
import { ENVIRONMENT_NAMES } from "./settings.ts";
import { BRING_BACK } from "./stream-keeper.ts";
import { viewChecks } from "./view-checks.ts";
import { closedToWriting, openToOthers } from "./view-database.ts";

const SEE_SETTINGS = "docs/reference/settings.md has all settings.";

/** In the order of dependence: what depends on a failed check is unchecked. */
export async function* diagnose(
  environment: Readonly<Record<string, string | undefined>>,
): AsyncGenerator<Check> {
  const read = readConfig(environment);
  const misspelt = misspeltSettings(environment).map((detail) => warned("settings", detail, SEE_SETTINGS));
  if (read.kind === "invalid") {
    for (const detail of read.errors) yield failed("settings", detail, `Correct it; ${SEE_SETTINGS}`);
    yield* misspelt;
    yield unchecked("broker, streams, views", "the settings say where they are");
    return;
  }
  const { config } = read;
  const set = ENVIRONMENT_NAMES.filter((name) => environment[name] !== undefined);
  yield ok(
    "settings",
    `understood; ${set.length === 0 ? "none is set, all are defaults" : `set: ${set.join(", ")}`}`,
  );
  yield* misspelt;
  if (config.signIn) yield await signInCheck(config.signIn);
  const isOpen = yield* folderChecks(config);
  if (isOpen) yield* brokerChecks(config);
}

/** Whether the sign-in provider describes itself as OIDC_ISSUER says. The client secret shows only when somebody signs in. */
const signInCheck = async (settings: SignInSettings): Promise<Check> => {
  const provider = createSignInProvider({ settings, now: () => new Date(), randomBytes });
  const failure = await provider.failure();
  const issuer = settings.issuer.href;
  if (failure === undefined) return ok("sign-in", `the provider ${issuer} answers`);
  return failed(
    "sign-in",
    `the provider ${issuer} did not describe itself: ${failure.detail}`,
    "Nobody can sign in with it, API keys go on working. OIDC_ISSUER must be spelt as `issuer` in what the provider has at /.well-known/openid-configuration below that address, and this machine must reach it.",
  );
};

/** Returns whether the broker can be looked for. */
async function* folderChecks(config: Config): AsyncGenerator<Check, boolean> {
  const { dataDir, natsUrl } = config;
  const closed = await closedFolder(config);
  if (closed !== undefined) {
    yield failed("folder", closed, AS_ITS_USER);
    yield unchecked("broker, streams, views, disk", "the folder says where they are");
    return false;
  }
  if (natsUrl === undefined && !(await isThere(dataDir))) {
    const detail = `there is no folder ${dataDir} here, and NATS_URL is not set`;
    const advice =
      "Run it in the folder of the service, or with its settings (DATA_DIR, NATS_URL, DATABASE_URL).";
    yield unchecked("broker, streams, views, disk", detail, advice);
    return false;
  }
  const readOnly = await readOnlyFolder(config);
  if (readOnly !== undefined)
    yield failed(
      "folder",
      readOnly,
      `${AS_ITS_USER} If it is that user, make the folder its own, on a disk that takes writes: a start needs it.`,
    );
  if (await isThere(dataDir)) {
    const free = await freeBytes(dataDir);
    yield* report("disk", `${sizeText(free)} free under ${dataDir}`, diskTroubles(free));
  } else yield unchecked("disk", `there is no folder ${dataDir} here`);
  const closedViews = closedToWriting(config);
  if (closedViews) yield failed("views", closedViews.detail, closedViews.advice);
  const open = openToOthers(config);
  if (open) yield warned("views", open.detail, open.advice);
  return true;
}

/** What readiness would say, as checks. */
const report = (name: string, okDetail: string, troubles: readonly Trouble[]): readonly Check[] =>
  troubles.length === 0
    ? [ok(name, okDetail)]
    : troubles.map(({ isBlocking, detail, advice }) => (isBlocking ? failed : warned)(name, detail, advice));

/** Also checks what depends on the broker: views and signing keys. */
async function* brokerChecks(config: Config): AsyncGenerator<Check> {
  await using stack = new AsyncDisposableStack();
  const found = await contact(config, stack);
  if ("state" in found) {
    yield found;
    yield unchecked("streams, views", "the broker holds the log");
    return;
  }
  const { service, provisioner } = found;
  const { nats } = service;
  const definitions = topology({ replicas: config.replicas });
  const heardOf = config.natsUrl?.split(",").map((url) => new URL(url.trim()).host) ?? [];
  const seen = await lookAtBroker(nats, { definitions, heardOf, timeoutMs: BROKER_REQUEST_MS_MAX });
  const { copies = [], brokers = [] } = Object.groupBy(
    // The check of the streams names the setting.
    troublesIn(seen).filter(({ id }) => id !== "log_misconfigured"),
    ({ id }) => (id === "stream_short" ? "copies" : "brokers"),
  );
  yield* report("broker", service.describe(), brokers);
  if (config.replicas > 1)
    yield* report("copies", `every stream is whole on ${config.replicas} servers`, copies);
  const isClustered = nats.info?.cluster !== undefined;
  if (seen.usage) yield ok("storage", `JetStream is on; ${sizeText(seen.usage.disk.bytes)} on disk`);
  else
    yield failed(
      "storage",
      "JetStream does not answer",
      isClustered ? `${NO_LEADER} ${NO_JETSTREAM}` : NO_JETSTREAM,
    );
  if (!seen.usage && !isClustered) {
    yield unchecked("rights, streams, views", "nobody answers for JetStream, which holds the log");
    return;
  }
  yield* rightsChecks(service);
  const streams = (await seeOneLog(service, provisioner)) ? streamTroubles(seen) : [NOT_ONE_LOG];
  yield* report("streams", `all ${definitions.length} are there, with the right settings`, streams);
  yield* viewChecks(config, service);
  if (config.headsCopy !== undefined) yield* await headsChecks(config.headsCopy, service);
  if (config.roles.includes("sealer")) yield await signingCheck(config, service);
}

const NO_LEADER =
  "See that more than half of the cluster's servers run: with fewer JetStream has no leader, and no event is acknowledged.";
const NO_JETSTREAM =
  "See that the server's configuration has a jetstream block, and that JetStream is enabled for the account of the service's user where there are accounts.";
const NOT_ONE_LOG = blocking(
  "streams_wrong",
  "the users of NATS_URL and NATS_PROVISION_URL do not see the same log: what one makes the other does not find",
  HAVE_ONE_LOG,
);

/** The connections, or the check that failed. Never makes credentials or starts a broker: the service does. */
const contact = async (config: Config, stack: AsyncDisposableStack) => {
  const logger = createLogger({ level: "silent", pretty: false });
  const connect = async (url: string): Promise<BrokerConnection> =>
    stack.use(await connectToBroker({ url, name: "prooftrail-doctor", logger }));
  try {
    const { natsUrl, natsProvisionUrl = natsUrl } = config;
    if (natsUrl !== undefined && natsProvisionUrl !== undefined)
      return { service: await connect(natsUrl), provisioner: await connect(natsProvisionUrl) };
    const url = await ownBroker(config);
    if (typeof url === "string") return failed("broker", url, "Start the service: it runs the broker.");
    return { service: await connect(url("service")), provisioner: await connect(url("provisioner")) };
  } catch (error) {
    if (!(error instanceof BrokerRefusedError)) throw error;
    return failed(
      "broker",
      error.message,
      error.isFinal ? CORRECT_IT : config.natsUrl ? CHECK_URLS : START_IT,
    );
  }
};

const CORRECT_IT = "Correct the server's configuration or the URL: the reason is given above.";
const CHECK_URLS = "Check NATS_URL and NATS_PROVISION_URL, their users, and that the server runs.";
const START_IT = "Start the service, or start it again where it runs: it runs the broker.";

/** Its addresses, or why it cannot be found. */
const ownBroker = async (config: Config) => {
  const files = ownBrokerFiles(config);
  if (!(await isThere(files.credentials))) return `no broker has run in ${files.directory} yet`;
  const port = await readLastPort(files);
  if (port === undefined) return `${files.port} has no port of a broker`;
  try {
    const credentials = await loadCredentials(files.credentials);
    return (user: "service" | "provisioner"): string => brokerUrl(user, credentials, port);
  } catch (error) {
    if (error instanceof CredentialsError) return error.message;
    throw error;
  }
};

async function* rightsChecks({ nats }: BrokerConnection): AsyncGenerator<Check> {
  const [rights, missing] = await Promise.all([rightsOf(nats), missingRights(nats)]);
  const named = (right: string): string =>
    rights
      .filter((each) => each.right === right)
      .map(({ operation }) => operation)
      .join(", ");
  const [granted, unknown] = [named("granted"), named("unknown")];
  if (granted !== "")
    yield failed(
      "rights",
      `the service's user may ${granted}: anybody with its password, or without one where it has none, can empty the log`,
      "Give the service a user with the permissions in streams/permissions.ts, and NATS_PROVISION_URL another.",
    );
  if (missing.length > 0)
    yield failed(
      "rights",
      `the service's user may not publish on ${missing.join(", ")}: what needs it does not work`,
      "Give it the permissions in streams/permissions.ts of this version; those of an earlier one may be fewer.",
    );
  if (granted !== "" || missing.length > 0) return;
  yield unknown === ""
    ? ok(
        "rights",
        `the service's user can neither change nor delete a stream, and has the rights that it needs (not tested, because consumers would receive the test: whether it may publish on ${UNASKED_RIGHTS.join(", ")})`,
      )
    : warned("rights", `no answer to whether the service's user may ${unknown}`, "Try again.");
}

/** Users of different accounts or servers do not. A broker that does not answer is reported by other checks. */
const seeOneLog = async (one: BrokerConnection, other: BrokerConnection): Promise<boolean> => {
  const ask = ({ nats }: BrokerConnection) => madeAt(nats, "AUDIT");
  return Promise.all([ask(one), ask(other)]).then(
    ([made, alsoMade]) => made === alsoMade,
    () => true,
  );
};

const streamTroubles = ({ streams }: BrokerState): readonly Trouble[] => {
  const named = (...kinds: readonly string[]): readonly string[] =>
    streams.filter(({ kind }) => kinds.includes(kind)).map(({ stream }) => stream);
  const led = streams.filter((seen) => seen.kind === "led");
  const silent = named("unknown", "leaderless");
  const definitions = streams.map(({ definition }) => definition);
  const found = new Map(led.map(({ stream, config }) => [stream, config]));
  const lost = silent.length > 0 ? [] : lostStreams(definitions, found);
  const missing = named("missing").filter((name) => !lost.includes(name));
  const wrong = (isBlocking: boolean, detail: string, advice: string): Trouble =>
    (isBlocking ? blocking : warning)("streams_wrong", detail, advice);
  const are = missing.length === 1 ? "is" : "are";
  return [
    ...(missing.length > 0 ? [wrong(true, `${missing.join(", ")} ${are} missing`, MAKES_THEM)] : []),
    ...(lost.length > 0
      ? [wrong(true, `the broker no longer has ${lost.join(", ")}, which it had before`, BRING_BACK)]
      : []),
    ...led.flatMap(({ definition, config }) => {
      const differences = differencesOf(definition, config);
      const isRepaired = differences.every(({ setting }) => definition.updatable.includes(setting));
      return differences.map((each) =>
        wrong(!isRepaired, differenceText(each), isRepaired ? CORRECTS_IT : BY_HAND),
      );
    }),
    ...(silent.length > 0 ? [wrong(false, `no answer about ${silent.join(", ")}`, LOOK_AGAIN)] : []),
  ];
};

const MAKES_THEM = "Start the service: it makes them.";
const CORRECTS_IT = "Restart the service: it corrects it.";
const BY_HAND = "Correct it by hand; the service must not, and does not start with it.";
const LOOK_AGAIN =
  "Look again in a moment: a cluster that elects a leader does not answer. If it stays so, the user in NATS_URL needs $JS.API.STREAM.INFO.*";

/** Whether the log reaches the heads in HEADS_COPY. */
const headsChecks = async (path: string, connection: BrokerConnection): Promise<readonly Check[]> => {
  const name = "heads copy";
  try {
    const folder = openHeadsFolder(path);
    const trouble = await troubleOfCopy(await createLogReader(connection), folder);
    const problem = trouble ? undefined : await copyProblem(folder, await createCheckpointStream(connection));
    const { size } = folder.isEmpty() ? new Map() : (await folder.read()).heads;
    return report(name, `the log has all of its ${size} heads`, [
      ...(trouble ? [trouble] : []),
      ...(problem === undefined ? [] : [warning("heads_copy_unavailable", problem)]),
    ]);
  } catch (error) {
    return [warned(name, messageOf(error), HEALTH_REASONS.heads_copy_unavailable.advice)];
  }
};

/** If none of the keys has signed here and others have, nothing is signed. */
const signingCheck = async (config: Config, connection: BrokerConnection): Promise<Check> => {
  const name = "signing keys";
  const { dataDir, checkpointKey: configured } = config;
  try {
    const signed = await (await createCheckpointStream(connection)).publicKeys();
    const ring = await findCheckpointKeys({ dataDir, configured });
    if (ring && hasSigned(ring, signed)) return ok(name, "one of them has signed here");
    if (signed.length === 0) return ok(name, "none has signed here yet");
    const missing = `${checkpointKeyPath(dataDir)} is missing, and a key has signed here`;
    return failed(name, ring ? STRANGERS : missing, KEEP_THE_OLD_KEY);
  } catch (error) {
    return (error instanceof CheckpointKeyError ? failed : unchecked)(name, messageOf(error));
  }
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
