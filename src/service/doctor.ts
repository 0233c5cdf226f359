/** What `prooftrail doctor` checks on the machine of a service: settings, sign-in provider, folder, disk, broker, streams, views, keys. It changes nothing. */
import { randomBytes } from "node:crypto";
import { topology } from "../../streams/topology.ts";
import { createSignInProvider, type SignInSettings } from "../access/sign-in-provider.ts";
import { BROKER_REQUEST_MS_MAX } from "../limits.ts";
import { type BrokerState, lookAtBroker } from "../nats/broker-health.ts";
import { createCheckpointStream } from "../nats/checkpoint-stream.ts";
import { type BrokerConnection, BrokerRefusedError, connectToBroker } from "../nats/connection.ts";
import { examineRights, UNASKED_RIGHTS } from "../nats/examine.ts";
import { createLogReader } from "../nats/reader.ts";
import { differencesOf, differenceText, lostStreams } from "../nats/reconcile.ts";
import { hasSigned } from "../proof/key-ring.ts";
import { isThere } from "../runtime/durable-file.ts";
import { messageOf } from "../runtime/error-text.ts";
import { RefusedError } from "../runtime/refused-error.ts";
import { sizeText } from "../runtime/size-text.ts";
import { createLogger } from "../telemetry/logger.ts";
import { createViewReadiness } from "../views/kit/view-readiness.ts";
import { findRunningBroker } from "./broker.ts";
import { troublesIn } from "./broker-watch.ts";
import { type Check, failed, ok, unchecked, warned } from "./check.ts";
import { checkpointKeyPath, findCheckpointKeys } from "./checkpoint-key.ts";
import { type Config, misspeltSettings, readConfig } from "./config.ts";
import { AS_ITS_USER, closedFolder, freeBytes, viewsFile } from "./data-folder.ts";
import { copyProblem, openHeadsFolder } from "./heads-folder.ts";
import { diskTroubles, viewTroubles } from "./health.ts";
import { blocking, HEALTH_REASONS, only, type Trouble, warning } from "./health-reasons.ts";
import { troubleOfCopy } from "./log-end.ts";
import { KEEP_THE_OLD_KEY, STRANGERS } from "./sealer.ts";
import { SETTING_NAMES } from "./settings.ts";
import { BRING_BACK } from "./stream-keeper.ts";
import { statusOf } from "./view-care.ts";
import { connectViews, olderIn, viewsNotOfLog, viewsRefused } from "./view-database.ts";

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
  const set = SETTING_NAMES.filter((name) => environment[name] !== undefined);
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
    "Nobody can sign in with it; API keys keep working. OIDC_ISSUER must be spelt as `issuer` in what the provider has at /.well-known/openid-configuration below that address, and this machine must reach it.",
  );
};

/** Returns whether the broker can be looked for. */
async function* folderChecks(config: Config): AsyncGenerator<Check, boolean> {
  const { dataDir, natsUrl } = config;
  const below = "broker, streams, views, disk";
  const closed = await closedFolder(config);
  if (closed !== undefined) {
    yield failed("folder", closed, AS_ITS_USER);
    yield unchecked(below, "the folder says where they are");
    return false;
  }
  const isMissing = !(await isThere(dataDir));
  if (isMissing && natsUrl === undefined) {
    yield unchecked(
      below,
      `there is no folder ${dataDir} here, and NATS_URL is not set`,
      "Run it in the folder of the service, or with its settings (DATA_DIR, NATS_URL, DATABASE_URL).",
    );
    return false;
  }
  if (isMissing) yield unchecked("disk", `there is no folder ${dataDir} here`);
  else {
    const free = await freeBytes(dataDir);
    yield* report("disk", `${sizeText(free)} free under ${dataDir}`, diskTroubles(free));
  }
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
  const service = await contact(config, stack);
  if ("state" in service) {
    yield service;
    yield unchecked("streams, views", "the broker holds the log");
    return;
  }
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
    yield* report("copies", `every stream is complete on ${config.replicas} servers`, copies);
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
  yield* report(
    "streams",
    `all ${definitions.length} are there, with the right settings`,
    streamTroubles(seen),
  );
  yield* viewChecks(config, service);
  if (config.headsCopy !== undefined) yield* await headsChecks(config.headsCopy, service);
  if (config.roles.includes("sealer")) yield await signingCheck(config, service);
}

const NO_LEADER =
  "Check that more than half of the cluster's servers run: with fewer JetStream has no leader, and no event is acknowledged.";
const NO_JETSTREAM =
  "Check that the server's configuration has a jetstream block, and that JetStream is enabled for the account of the service's user, if it has one.";

/** The connection of the service's user, or the check that failed. Never makes credentials or starts a broker: the service does. */
const contact = async (config: Config, stack: AsyncDisposableStack) => {
  const logger = createLogger({ level: "silent", pretty: false });
  const connect = async (url: string): Promise<BrokerConnection> =>
    stack.use(await connectToBroker({ url, name: "prooftrail-doctor", logger }));
  try {
    const url = await findRunningBroker(config);
    if (typeof url === "string") return failed("broker", url, "Start the service: it runs the broker.");
    const service = await connect(url("service"));
    // Only to see that it lets the provisioner in.
    await connect(url("provisioner"));
    return service;
  } catch (error) {
    if (!(error instanceof BrokerRefusedError)) throw error;
    const advice = error.isFinal ? CORRECT_IT : config.natsUrl ? CHECK_URLS : START_IT;
    return failed("broker", error.message, advice);
  }
};

const CORRECT_IT = "Correct what the reason names.";
const CHECK_URLS = "Check NATS_URL and NATS_PROVISION_URL, their users, and that the server runs.";
const START_IT = "Start or restart the service: it runs the broker.";

async function* rightsChecks({ nats }: BrokerConnection): AsyncGenerator<Check> {
  const { granted, unknown, missing } = await examineRights(nats);
  if (granted.length > 0)
    yield failed(
      "rights",
      `the service's user may ${granted.join(", ")}: anybody with its password, or without one where it has none, can empty the log`,
      "Give the service a user with the permissions in streams/permissions.ts, and NATS_PROVISION_URL another.",
    );
  if (missing.length > 0)
    yield failed(
      "rights",
      `the service's user may not publish on ${missing.join(", ")}: what needs it does not work`,
      "Give it the permissions in streams/permissions.ts of this version; those of an earlier one may be fewer.",
    );
  if (granted.length > 0 || missing.length > 0) return;
  yield unknown.length === 0
    ? ok(
        "rights",
        `the service's user can neither change nor delete a stream, and has the rights that it needs (not tested, because consumers would receive the test: whether it may publish on ${UNASKED_RIGHTS.join(", ")})`,
      )
    : warned("rights", `no answer to whether the service's user may ${unknown.join(", ")}`, "Try again.");
}

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
    ...only(missing.length > 0, wrong(true, `${missing.join(", ")} ${are} missing`, MAKES_THEM)),
    ...only(
      lost.length > 0,
      wrong(true, `the broker no longer has ${lost.join(", ")}, which it had before`, BRING_BACK),
    ),
    ...led.flatMap(({ definition, config }) => {
      const differences = differencesOf(definition, config);
      const isRepaired = differences.every(({ setting }) => definition.updatable.includes(setting));
      return differences.map((each) =>
        wrong(!isRepaired, differenceText(each), isRepaired ? CORRECTS_IT : BY_HAND),
      );
    }),
    ...only(silent.length > 0, wrong(false, `no answer about ${silent.join(", ")}`, LOOK_AGAIN)),
  ];
};

const MAKES_THEM = "Start the service: it creates them.";
const CORRECTS_IT = "Restart the service: it corrects it.";
const BY_HAND = "Correct it by hand; the service must not, and does not start with it.";
const LOOK_AGAIN =
  "Try again in a moment: a cluster that elects a leader does not answer. If this lasts, the user in NATS_URL needs $JS.API.STREAM.INFO.*";

/** What readiness says of the views, and their dead letters. */
async function* viewChecks(config: Config, connection: BrokerConnection): AsyncGenerator<Check> {
  if (config.databaseUrl === undefined && !(await isThere(viewsFile(config)))) {
    yield unchecked("views", `there is no views.sqlite in ${config.dataDir}`, "A start creates it.");
    return;
  }
  await using stack = new AsyncDisposableStack();
  try {
    const connected = await connectViews(config, stack);
    const log = await createLogReader(connection);
    const parts = { ...connected, log, older: await olderIn(connected) };
    const troubles = await viewTroubles({ ...parts, viewReadiness: createViewReadiness(parts) });
    const isLogSilent = troubles.some(({ id }) => id === "log_silent");
    const ahead = isLogSilent ? [] : await viewsNotOfLog(parts);
    const found = [...ahead.map((reason) => blocking("views_ahead", reason)), ...troubles];
    if (found.length > 0) {
      const { advice } = HEALTH_REASONS.views_behind;
      const told = found.map((each) => (each.id === "views_behind" ? { ...each, advice } : each));
      yield* report("views", "", told);
      return;
    }
    const { last_sequence: end, views: all } = await statusOf(parts);
    const behind = Math.max(...all.map((view) => view.behind));
    const where = behind === 0 ? `at the log's end, ${end}` : `at most ${behind} of ${end} records behind`;
    yield ok("views", `all ${all.length} are ${where}`);
    const letters = all.filter(({ dead_letters }) => dead_letters > 0);
    yield letters.length === 0
      ? ok("dead letters", "none")
      : warned(
          "dead letters",
          letters.map((view) => `${view.name}: ${view.dead_letters}`).join(", "),
          "prooftrail views dead-letter list says why; replay tries them again.",
        );
  } catch (error) {
    yield failed("views", (error instanceof RefusedError ? error : viewsRefused(error, config)).message);
  }
}

/** Whether the log reaches the heads in HEADS_COPY. */
const headsChecks = async (path: string, connection: BrokerConnection): Promise<readonly Check[]> => {
  const name = "heads copy";
  try {
    const folder = openHeadsFolder(path);
    const trouble = await troubleOfCopy(await createLogReader(connection), folder);
    const problem = trouble ? undefined : await copyProblem(folder, await createCheckpointStream(connection));
    const { size } = folder.isEmpty() ? new Map() : (await folder.read()).heads;
    const other = only(problem !== undefined, warning("heads_copy_unavailable", problem ?? ""));
    return report(name, `the log has all of its ${size} heads`, trouble ? [trouble] : other);
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
    return (error instanceof RefusedError ? failed : unchecked)(name, messageOf(error));
  }
};
