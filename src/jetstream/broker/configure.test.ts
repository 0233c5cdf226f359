import { expect, test } from "bun:test";
import { PERMISSIONS } from "../../../streams/permissions.ts";
import { topology } from "../../../streams/topology.ts";
import { EXPORTS_MAX, LOG_FOLLOWED_BYTES_MAX, PROJECTION_BYTES_PER_COMMIT_MAX } from "../../limits.ts";
import { brokerFiles } from "./broker-files.ts";
import { configure } from "./configure.ts";

const credentials = { service: "s-secret", provisioner: "p-secret", consumer: "c-secret" };
const configuration = configure({ files: brokerFiles('/data/"odd" \\ dir'), credentials, port: undefined });

test("every write is on disk before it is acknowledged", () => {
  expect(configuration.split("\n")).toContain("  sync_interval: always");
});

test("the broker listens only on loopback, on a free port unless one is given", () => {
  expect(configuration).toContain('\nlisten: "127.0.0.1:-1"\n');
  const fixed = configure({ files: brokerFiles("/data"), credentials, port: 4222 });
  expect(fixed).toContain('\nlisten: "127.0.0.1:4222"\n');
});

test("each user of streams/permissions.ts has a password of its own and no other rights", () => {
  for (const [user, { publish, subscribe }] of Object.entries(PERMISSIONS)) {
    const permissions = JSON.stringify({ publish: { allow: publish }, subscribe: { allow: subscribe } });
    const password = `${user.charAt(0)}-secret`;
    expect(configuration).toContain(
      `user: "${user}"\n        password: "${password}"\n        permissions: ${permissions}\n`,
    );
  }
  expect(configuration.match(/ user: /g)).toHaveLength(Object.keys(PERMISSIONS).length);
});

test("the memory of the broker is exactly the sum of the limits of its streams in memory", () => {
  const inMemory = topology({ replicas: 1 }).filter(({ settings }) => settings.storage === "memory");
  const reserved = inMemory.reduce((sum, { settings }) => sum + (settings.max_bytes ?? Number.NaN), 0);
  expect(configuration).toContain(`max_memory_store: ${reserved}\n`);
});

test("all readers of the log together ask for at most half of what may wait for the service", () => {
  const pendingMax = Number(/^max_pending: (\d+)$/m.exec(configuration)?.[1]);
  const projector = 2 * PROJECTION_BYTES_PER_COMMIT_MAX;
  const requests = EXPORTS_MAX * LOG_FOLLOWED_BYTES_MAX;
  expect(projector + requests).toBeLessThanOrEqual(pendingMax / 2);
});

test("a path with quotes and backslashes remains one value", () => {
  expect(configuration).toContain(String.raw`store_dir: "/data/\"odd\" \\ dir/store"`);
});
