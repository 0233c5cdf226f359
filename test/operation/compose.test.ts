/** Checks compose.yaml and Dockerfile against the broker's rights, its durability and the settings of the service. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { PROBLEM_CODES } from "../../src/api/http/problem.ts";
import {
  WATERMARK,
  WATERMARK_HEADER,
  WATERMARK_HEADER_VALUE,
  WATERMARK_MEMBER,
} from "../../src/api/sandbox/watermark.ts";
import { brokerFiles } from "../../src/nats/broker/broker-files.ts";
import { configure } from "../../src/nats/broker/configure.ts";
import { isSettingName } from "../../src/service/settings.ts";
import { haproxy, startBalancer } from "../support/balancer.ts";
import { testBrokerBinary } from "../support/broker.ts";
import { freePorts } from "../support/cluster.ts";
import { dataFolder } from "../support/process.ts";
import { until } from "../support/until.ts";

const Service = Type.Object({
  image: Type.String(),
  read_only: Type.Optional(Type.Boolean()),
  command: Type.Optional(Type.Array(Type.String())),
  environment: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]))),
  configs: Type.Optional(Type.Array(Type.Object({ source: Type.String(), target: Type.String() }))),
  ports: Type.Optional(Type.Array(Type.String())),
  volumes: Type.Optional(Type.Array(Type.String())),
  tmpfs: Type.Optional(Type.Array(Type.String())),
});
const Compose = Type.Object({
  services: Type.Record(Type.String(), Service),
  configs: Type.Record(Type.String(), Type.Object({ content: Type.String() })),
});

const root = join(import.meta.dir, "../..");
const composeText = await readFile(join(root, "compose.yaml"), "utf8");
const dockerfile = await readFile(join(root, "Dockerfile"), "utf8");
const compose = Value.Parse(Compose, Bun.YAML.parse(composeText));
const services = Object.entries(compose.services);
const brokers = services.filter(([, { image }]) => image.startsWith("nats:"));
const ours = services.filter(([, { image }]) => image.startsWith("prooftrail:"));

interface Variable {
  readonly name: string;
  /** `:?`, `:-` and the like, or empty. */
  readonly operator: string;
}

/** The variables of Compose, in any place. `$$` is a dollar sign. */
const VARIABLE = /\$\$|\$\{([A-Za-z_]+)([^A-Za-z}]*)[^}]*\}/g;
const settings = composeText.replaceAll(/^ *#.*$/gm, "");
const variables: readonly Variable[] = [...settings.matchAll(VARIABLE)]
  .filter(([, name]) => name !== undefined)
  .map(([, name = "", operator = ""]) => ({ name, operator: operator.trim() }));
const isSecret = (name: string): boolean => /PASSWORD|KEY|SECRET|TOKEN/.test(name);

/** The text that Compose gives to the broker, but each variable has its name as its value. */
const brokerConfig = (compose.configs.nats?.content ?? "").replaceAll(
  VARIABLE,
  (_match: string, name: string | undefined) => name ?? "$",
);

/** What the service's own broker would have, as one server of this cluster. */
const ownConfig = configure({
  files: brokerFiles("/data"),
  credentials: {
    service: "NATS_SERVICE_PASSWORD",
    provisioner: "NATS_PROVISIONER_PASSWORD",
    consumer: "NATS_CONSUMER_PASSWORD",
  },
  port: undefined,
  servers: brokers.length,
});

const limitIn = (configuration: string, name: string): string =>
  new RegExp(`^ *(${name}: .*)$`, "m").exec(configuration)?.[1] ?? `no ${name}`;

/** The accounts, without what means nothing to nats-server: comments, white space, commas, and quotation marks. */
const accountsIn = (configuration: string): string =>
  configuration
    .slice(configuration.lastIndexOf("accounts {"))
    .replaceAll(/^ *#.*$/gm, "")
    .replaceAll(/[\s",]/g, "");

test("accounts share what the service's own broker shares, and their users have the same rights", () => {
  expect(accountsIn(brokerConfig)).toBe(accountsIn(ownConfig));
  expect(accountsIn(ownConfig)).toContain("publish:{allow:[audit.>");
});

test("every broker writes to disk before it acknowledges", () => {
  expect(brokerConfig).toMatch(/^ {2}sync_interval: always$/m);
  expect(brokers.map(([name]) => name)).toEqual(["nats-1", "nats-2", "nats-3"]);
  for (const [name, { configs, command, volumes }] of brokers) {
    expect(configs).toEqual([{ source: "nats", target: "/etc/nats/nats.conf" }]);
    expect(command).toEqual(["--config", "/etc/nats/nats.conf", "--name", name]);
    expect(volumes).toEqual([`${name}:/data`]);
  }
});

test("the brokers have the same limits as the one that the service runs itself", () => {
  for (const name of [
    "max_payload",
    "max_pending",
    "no_fast_producer_stall",
    "max_memory_store",
    "max_memory",
    "max_file_store",
    "sync_interval",
  ]) {
    expect(limitIn(brokerConfig, name)).toBe(limitIn(ownConfig, name));
  }
});

test("nats-server accepts the configuration", async () => {
  await using folder = await dataFolder();
  const file = join(folder.path, "nats.conf");
  await writeFile(file, brokerConfig);
  const checked = spawnSync(await testBrokerBinary(), ["-t", "-c", file], { encoding: "utf8" });
  expect(checked.stderr + checked.stdout).toContain("is valid");
  expect(checked.status).toBe(0);
});

test("the service reads every setting that the file gives it", () => {
  const names = ours.flatMap(([, { environment }]) => Object.keys(environment ?? {}));
  const imageNames = [...dockerfile.matchAll(/^(?:ENV| {4})\s*([A-Z_]+)=/gm)].map(([, name = ""]) => name);
  expect(names).toContain("NATS_URL");
  expect(imageNames).toEqual(["HOST", "PORT", "DATA_DIR"]);
  expect([...names, ...imageNames].filter((name) => !isSettingName(name))).toEqual([]);
});

test("the image's user may write to the folders in memory: Docker gives them to root, with the mode that the folder has in the image", () => {
  expect(dockerfile).toMatch(/^USER 1000$/m);
  expect(dockerfile).toMatch(/^RUN mkdir -m 0770 \/data && chown 1000:0 \/data$/m);
  expect(dockerfile).toMatch(/^ {4}DATA_DIR=\/data$/m);
  for (const [, { tmpfs }] of ours) expect(tmpfs).toEqual(["/tmp", "/data:mode=1777"]);
});

test("no container with an inline config is read-only, because Compose refuses to make it (docker/compose#12031)", () => {
  const readOnly = services.filter(([, { read_only }]) => read_only === true);
  expect(readOnly.map(([name]) => name)).toEqual(ours.map(([name]) => name));
  for (const [, { configs }] of readOnly) expect(configs).toBeUndefined();
});

test("only the load balancer can be reached from outside", () => {
  expect(services.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual([
    "load-balancer",
  ]);
});

/** The configuration that Compose gives to the load balancer: its sections, by their first line. */
const balancer = new Map(
  (compose.configs.haproxy?.content ?? "")
    .replaceAll("$$", "$")
    .split(/\n(?=\S)/)
    .map((section) => [section.split("\n")[0] ?? "", section]),
);

test("the sandbox goes to any live front end, ready ones first; the rest goes to ready ones, and if none has its views, writes go to those that can take them", () => {
  expect(balancer.get("frontend clients")).toMatch(
    /use_backend sandbox if \{ path \/sandbox \/v1\/sandbox \} or \{ path_beg \/sandbox\/ \/v1\/sandbox\/ \}\n {2}use_backend writes if \{ method POST PUT DELETE \} \{ nbsrv\(api\) eq 0 \}\n {2}use_backend writes if \{ path_beg \/v1\/keys \/v1\/holds \/v1\/retention \} \{ nbsrv\(api\) eq 0 \}\n {2}default_backend api$/m,
  );
  const checked = (section: string): string =>
    (balancer.get(section) ?? "").replaceAll(/^ *(#|http-error|use-server).*\n?|\n$/gm, "").trim();
  const api = checked("backend api");
  expect(api).toContain("http-check send meth GET uri /health/ready hdr Host load-balancer");
  const live = api.replace("backend api", "backend sandbox").replace("/health/ready", "/health/live");
  expect(checked("backend sandbox")).toBe(live);
  const preferred = [...(balancer.get("backend sandbox") ?? "").matchAll(/^ *use-server (.*)$/gm)];
  expect(preferred.map(([, rule]) => rule)).toEqual([
    "api-1 if { srv_is_up(writes/api-1) } !{ srv_is_up(writes/api-2) }",
    "api-2 if { srv_is_up(writes/api-2) } !{ srv_is_up(writes/api-1) }",
  ]);
  const withoutViews = api.replace("backend api", "backend writes").replace(" hdr", "?without=views hdr");
  expect(checked("backend writes")).toBe(withoutViews);
});

test("the load balancer's own answers are problem+json and name their request, and have the watermark if they are for the sandbox", () => {
  const ERROR =
    /^ *http-error status (\d+) content-type application\/problem\+json hdr Retry-After 2 hdr X-Request-Id "%\[unique-id\]"(?: hdr (\S+) "([^"]*)")? lf-string "(.*)"$/gm;
  const answers = (section: string) =>
    [...(balancer.get(section) ?? "").matchAll(ERROR)].map(([, status, header, value, body = ""]) => {
      const told: Record<string, unknown> = JSON.parse(body.replaceAll('\\"', '"'));
      expect(told).toMatchObject({
        status: Number(status),
        code: status === "500" ? "internal_error" : "log_unavailable",
        request_id: "%[unique-id]",
      });
      return [Number(status), header?.toLowerCase(), value, told[WATERMARK_MEMBER]];
    });
  expect(balancer.get("defaults")).toMatch(/^ {2}unique-id-format %\[uuid\(7\)\]$/m);
  const plain = [undefined, undefined, undefined];
  expect(answers("defaults")).toEqual([500, 502, 503, 504].map((status) => [status, ...plain]));
  const marked = [WATERMARK_HEADER, WATERMARK_HEADER_VALUE, WATERMARK];
  expect(answers("backend sandbox")).toEqual([502, 503, 504].map((status) => [status, ...marked]));
});

test("what the load balancer answers before it has read a request is problem+json as well", () => {
  const files = [...(balancer.get("defaults") ?? "").matchAll(/^ *errorfile (\d+) (\S+)$/gm)];
  expect(files.map(([, status]) => status)).toEqual(["400", "408", "431"]);
  const { configs } = compose.services["load-balancer"] ?? {};
  for (const [, status, path] of files) {
    const source = configs?.find(({ target }) => target === path)?.source ?? "";
    const [head = "", body = ""] = (compose.configs[source]?.content ?? "").split("\n\n");
    expect(head).toStartWith(`HTTP/1.1 ${status} `);
    expect(head).toContain("\nContent-Type: application/problem+json\n");
    const { code, ...told } = JSON.parse(body);
    expect(told).toMatchObject({ status: Number(status), detail: expect.any(String) });
    expect(PROBLEM_CODES).toContain(code);
  }
});

test("the load balancer makes up for what Bun's server does not take (test/http/bun-server.test.ts)", () => {
  expect(balancer.get("defaults")).toMatch(/^ {2}option http-drop-request-trailers$/m);
  expect(balancer.get("frontend clients")).toMatch(
    /^ {2}http-request set-header Expect 100-continue if \{ req\.hdr\(Expect\) -i 100-continue \}$/m,
  );
});

test.skipIf(haproxy.kind === "missing")(
  "haproxy answers with its problem documents where a front end is away, breaks off or is silent",
  async () => {
    const frontEnd = createHttpServer((request, response) => {
      if (request.url === "/health/ready") response.end();
      else if (request.url === "/broken") request.socket.end("no HTTP\r\n\r\n");
    });
    await new Promise<void>((done) => frontEnd.listen(0, "127.0.0.1", done));
    const [bind = 0, away = 0] = await freePorts(2);
    await using _balancer = await startBalancer(
      (compose.configs.haproxy?.content ?? "").replace("timeout server 120s", "timeout server 500ms"),
      { bind, frontEnds: [(frontEnd.address() as AddressInfo).port, away] },
    );
    const ask = (path: string) => fetch(`http://127.0.0.1:${bind}${path}`).catch(() => undefined);
    try {
      await until("the front end is up", async () => (await ask("/health/ready"))?.status === 200);
      const told = async (path: string, status: number) => {
        const response = await ask(path);
        expect([response?.status, response?.headers.get("content-type")]).toEqual([
          status,
          "application/problem+json",
        ]);
        expect(await response?.json()).toMatchObject({
          status,
          code: "log_unavailable",
          request_id: response?.headers.get("x-request-id"),
        });
      };
      await told("/broken", 502);
      await told("/silent", 504);
      frontEnd.closeAllConnections();
      frontEnd.close();
      await until("no front end is up", async () => (await ask("/health/ready"))?.status === 503);
      await told("/any", 503);
    } finally {
      frontEnd.closeAllConnections();
      frontEnd.close();
    }
  },
);

test("every image has one version, and Bun's version is the project's", async () => {
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = ""]) => image);
  for (const image of [...services.map((service) => service[1].image), ...bases]) {
    expect(image).toMatch(/^[a-z/]+:\d+\.\d+(\.\d+)?(-[a-z]+)?$/);
  }
  const { packageManager } = Value.Parse(
    Type.Object({ packageManager: Type.String() }),
    JSON.parse(await readFile(join(root, "package.json"), "utf8")),
  );
  const bunImage = `oven/bun:${packageManager.replace("bun@", "")}-slim`;
  const brokerImages = brokers.map(([, { image }]) => image);
  expect(bases.toSorted()).toEqual([...new Set(brokerImages), bunImage, bunImage].toSorted());
});

test("no secret has a default: without it the start fails", () => {
  const secrets = variables.filter(({ name }) => isSecret(name));
  const required = new Set(secrets.filter(({ operator }) => operator === ":?").map(({ name }) => name));
  expect([...required].toSorted()).toEqual([
    "ADMIN_API_KEY",
    "CHECKPOINT_KEY",
    "NATS_CONSUMER_PASSWORD",
    "NATS_PROVISIONER_PASSWORD",
    "NATS_ROUTE_PASSWORD",
    "NATS_SERVICE_PASSWORD",
    "POSTGRES_PASSWORD",
  ]);
  for (const { name, operator } of secrets) {
    expect(["", ":?"]).toContain(operator);
    expect(required.has(name)).toBe(true);
  }
  for (const [, { environment = {} }] of services) {
    for (const [name, value] of Object.entries(environment)) {
      // null: the value is taken from outside unchanged, and our own start refuses to go on without it.
      if (isSecret(name)) expect(value === null || /^\$\{\w+:\?/.test(value)).toBe(true);
    }
  }
});

test("the comment at the top of the file explains every variable", () => {
  const [explanation = ""] = composeText.split("\nname:");
  for (const { name } of variables)
    expect(explanation).toContain(name.replace(/^((?:NATS_|POSTGRES).*)_PASSWORD$/, "$1"));
});
