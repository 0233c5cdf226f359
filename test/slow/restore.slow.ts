/** HEADS_COPY: a log that was put back from an older copy is noticed without its old views, and goes on only if that is accepted. */
import { expect, test } from "bun:test";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type SealedHead, sealedHead } from "../../src/proof/sealed-head.ts";
import { runCli } from "../support/cli.ts";
import { checksOf } from "../support/diagnosis.ts";
import { dataFolder, readyService, type ServiceProcess, spawnService } from "../support/process.ts";
import { event } from "../support/service.ts";
import { until } from "../support/until.ts";

const sealed = (service: ServiceProcess, count: number, key?: string) =>
  until(`a head covers ${count} records`, async () => {
    const head = sealedHead(
      (await service.call("/v1/log/checkpoint", { ...(key !== undefined && { key }) })).text,
    );
    return head !== undefined && head.size >= count && head;
  });

const take = async (service: ServiceProcess, names: readonly string[]): Promise<void> => {
  for (const name of names) {
    const answer = await service.call("/v1/events", { body: event({ event_id: `evt_${name}` }) });
    expect([name, answer.status]).toEqual([name, 202]);
  }
};

/** A folder of a service with HEADS_COPY, whose store can be copied and put back without its views. */
const restorable = async () => {
  const stack = new AsyncDisposableStack();
  const [folder, elsewhere, heads] = [
    stack.use(await dataFolder()),
    stack.use(await dataFolder()),
    stack.use(await dataFolder()),
  ];
  const store = join(folder.path, "broker/store");
  const copy = join(elsewhere.path, "store");
  const environment = { HEADS_COPY: heads.path };
  return {
    folder,
    elsewhere,
    heads,
    environment,
    running: async (work: (service: ServiceProcess) => Promise<unknown>): Promise<void> => {
      await using service = await readyService({ dataDir: folder.path, environment });
      await work(service);
      service.kill("SIGTERM");
      expect(await service.ended()).toBe(0);
    },
    keepCopy: (): void => cpSync(store, copy, { recursive: true }),
    putBack: (): void => {
      rmSync(store, { recursive: true });
      cpSync(copy, store, { recursive: true });
      for (const end of ["", "-wal", "-shm"])
        rmSync(join(folder.path, `views.sqlite${end}`), { force: true });
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

test("with HEADS_COPY an older copy of the log is neither written nor signed until its loss is accepted, and later heads say so", async () => {
  await using scene = await restorable();
  const { folder, elsewhere, heads, environment, running, keepCopy, putBack } = scene;

  let zeta = "";
  await running(async (service) => {
    await take(service, ["kept"]);
    const body = { tenant: "zeta", scopes: ["events:write", "events:read", "keys:manage"] };
    zeta = (await service.call("/v1/keys", { body })).json.data.api_key;
    const sent = await service.call("/v1/events", { body: event(), key: zeta });
    expect(sent.json.data.sequence).toBe(3);
    await sealed(service, 1);
    await sealed(service, 1, zeta);
  });
  keepCopy();
  let lost: SealedHead | undefined;
  await running(async (service) => {
    await take(service, ["lost_1", "lost_2"]);
    lost = await sealed(service, 3);
    const nothing = await service.call("/v1/restore/accept", { body: { reason: "none" } });
    expect([nothing.status, nothing.json.code]).toEqual([409, "log_not_behind"]);
    const refused = await service.call("/v1/restore/accept", { body: { reason: "none" }, key: zeta });
    expect([refused.status, refused.json.code]).toEqual([403, "insufficient_scope"]);
  });
  putBack();

  await running(async (service) => {
    const refused = await service.call("/v1/events", { body: event({ event_id: "evt_new" }) });
    expect([refused.status, refused.json.code]).toEqual([503, "log_behind"]);
    for (const path of ["/health/ready", "/health/ready?without=views"]) {
      const { status, json } = await service.call(path);
      expect([path, status]).toEqual([path, 503]);
      expect(json.reasons.join()).toContain(
        "The log ends at record 3, and heads in HEADS_COPY cover it up to record 5",
      );
    }
    const doctor = await checksOf("heads copy", { DATA_DIR: folder.path, ...environment });
    expect(doctor).toMatchObject([
      { state: "failed", advice: expect.stringContaining("prooftrail restore accept") },
    ]);
    await until("the sealer has refused", () => service.output.includes("no tree head is signed"));
    expect(sealedHead((await service.call("/v1/log/checkpoint")).text)?.size).toBe(1);

    const args = ["restore", "accept", "--reason", "the disk failed", "--yes", "--url", service.url];
    const accepted = await until("the views are level, and it is accepted", async () => {
      const result = await runCli([...args, "--key-file", join(folder.path, "admin.key")]);
      return result.code === 0 && result;
    });
    expect(accepted.out).toContain("accepted as it is");
    expect((await service.call("/health/ready?without=views")).status).toBe(200);
    await take(service, ["new_1"]);
    const head = await sealed(service, 2);
    const line = `prooftrail.restored 1 3 ${Buffer.from(lost?.root ?? []).toString("base64")}`;
    expect(head.extensions).toEqual([line]);
    // A log that lost nothing says nothing.
    await service.call("/v1/events", { body: event({ event_id: "evt_2" }), key: zeta });
    expect((await sealed(service, 2, zeta)).extensions).toBeUndefined();
    expect(readdirSync(heads.path).filter((name) => name.startsWith("given-up"))).toHaveLength(1);

    const auditor = await service.call("/v1/keys", {
      body: { tenant: "prooftrail-system", scopes: ["events:read"] },
    });
    const told = await service.call("/v1/events?event_type=system.restored&min_sequence=4", {
      key: auditor.json.data.api_key,
    });
    expect(told.json.data).toMatchObject([
      {
        event: {
          metadata: {
            actor: "admin",
            reason: "the disk failed",
            known_sequence: 5,
            restored_sequence: 3,
            heads_given_up: 1,
            heads: [{ tenant: "default", size: 3, restored_size: 1 }],
          },
        },
      },
    ]);
  });
  // After a restart it still says so, and bundles are valid.
  await running(async (service) => {
    await take(service, ["new_2"]);
    expect((await sealed(service, 3)).extensions).toHaveLength(1);
    const bundle = join(elsewhere.path, "bundle.zip");
    const key = ["--url", service.url, "--key-file", join(folder.path, "admin.key")];
    expect(await runCli(["evidence", "--output", bundle, ...key])).toMatchObject({ code: 0 });
    const verified = await runCli(["verify", bundle]);
    expect([verified.code, verified.out]).toEqual([0, expect.stringContaining("restored")]);
  });
});

test("a damaged file in HEADS_COPY may hide that the log lost its end: nothing is written or signed until it is back", async () => {
  await using scene = await restorable();
  const { folder, heads, environment, running, keepCopy, putBack } = scene;
  for (const name of ["kept", "lost"]) {
    await running(async (service) => {
      await take(service, [name]);
      await sealed(service, name === "kept" ? 1 : 2);
    });
    if (name === "kept") keepCopy();
  }
  putBack();
  const newest = join(heads.path, readdirSync(heads.path).toSorted().at(-1) ?? "");
  const whole = readFileSync(newest);
  truncateSync(newest, whole.length - 9);

  await running(async (service) => {
    const health = await until("the damage is named", async () => {
      const { status, json } = await service.call("/health/ready");
      return json.reason_ids?.includes("heads_copy_unavailable") && { status, ...json };
    });
    expect(health.status).toBe(503);
    expect(health.reasons.join()).toContain(newest);
    const refused = await service.call("/v1/events", { body: event({ event_id: "evt_new" }) });
    expect([refused.status, refused.json.code]).toEqual([503, "log_behind"]);
    await until("the sealer has refused", () => service.output.includes("no tree head is signed"));
    const unaccepted = await service.call("/v1/restore/accept", { body: { reason: "none" } });
    expect([unaccepted.status, unaccepted.text]).toEqual([503, expect.stringContaining(newest)]);
    const doctor = await checksOf("heads copy", { DATA_DIR: folder.path, ...environment });
    expect(doctor).toMatchObject([{ state: "failed", detail: expect.stringContaining(newest) }]);
    writeFileSync(newest, whole);
    await until("the loss is known", async () =>
      (await service.call("/health/ready")).json.reason_ids.includes("heads_not_reached"),
    );
  });
});

test("a link into DATA_DIR is not outside of it", async () => {
  await using folder = await dataFolder();
  await using elsewhere = await dataFolder();
  mkdirSync(join(folder.path, "heads"));
  const HEADS_COPY = join(elsewhere.path, "heads");
  symlinkSync(join(folder.path, "heads"), HEADS_COPY);
  await using service = await spawnService({ dataDir: folder.path, environment: { HEADS_COPY } });
  expect(await service.ended()).not.toBe(0);
  expect(service.errors).toContain("HEADS_COPY must be outside DATA_DIR");
});
