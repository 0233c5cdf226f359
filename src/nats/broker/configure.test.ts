import { expect, test } from "bun:test";
import { PERMISSIONS } from "../../../streams/permissions.ts";
import { COUNTS_GROUPS } from "../../../streams/subjects.ts";
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

test.each([1, 3])(
  "with %i copies every stream in memory is bounded, and full ones leave each broker a fifth of its memory",
  (replicas) => {
    const text = configure({ files: brokerFiles("/data"), credentials, port: undefined, servers: replicas });
    const limit = (name: string): number => Number(new RegExp(`^ *${name}: (\\d+)$`, "m").exec(text)?.[1]);
    const inMemory = topology({ replicas }).filter(({ settings }) => settings.storage === "memory");
    expect(inMemory.map(({ name, settings }) => [name, settings.max_bytes > 0])).toEqual([
      ["RATES", true],
      ["SANDBOX", true],
    ]);
    const full = inMemory.reduce((sum, { settings }) => sum + settings.max_bytes, 0);
    expect(full).toBeLessThanOrEqual(limit("max_memory_store") * 0.8);
    // The account's limit counts every copy (measured on 2.15.1).
    expect(limit("max_memory")).toBe(limit("max_memory_store") * replicas);
  },
);

test("the counts of 10,000 tenants that send in every hour fit on disk for more than a year, and into their messages", () => {
  const counts = topology({ replicas: 3 }).find(({ name }) => name === "COUNTS");
  if (!counts) throw new Error("there is a stream of counts");
  const { settings } = counts;
  expect(settings.storage).toBe("file");
  const [tenants, frontEnds] = [10_000, 2];
  const ofTenant = JSON.stringify({ "tenant-of-20-letters": Array.from({ length: 24 }, () => 1000) }).length;
  const dayBytes = tenants * frontEnds * ofTenant;
  expect(settings.max_bytes / dayBytes).toBeGreaterThan(365);
  // Groups are not of equal size.
  expect((2 * tenants * ofTenant) / COUNTS_GROUPS).toBeLessThan(settings.max_msg_size);
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
