import { expect, test } from "bun:test";
import { banner } from "./banner.ts";
import { readConfig } from "./config.ts";
import type { Service } from "./service.ts";

const told = (
  adminKey: Service["adminKey"],
  variables: Readonly<Record<string, string>> = {},
  isTerminal = false,
): string => {
  const read = readConfig(variables);
  if (read.kind === "invalid") throw new Error(read.errors.join());
  const stop = async (): Promise<void> => {};
  const service = {
    url: "http://127.0.0.1:8080",
    broker: "nats-server",
    consumerUrlFile: undefined,
    adminKey,
    stop,
    [Symbol.asyncDispose]: stop,
  };
  return banner({
    service,
    config: read.config,
    version: "0.0.0",
    startedMs: 1,
    isTerminal,
    now: new Date(0),
  });
};

test("the banner mentions an earlier admin key only if there was one", () => {
  const ADMIN_API_KEY = "chosen-by-the-operator";
  const atTheFirstStart = told({ kind: "replaced", hadOne: false }, { ADMIN_API_KEY });
  expect(atTheFirstStart).toContain("the one in ADMIN_API_KEY");
  expect(atTheFirstStart).not.toContain("earlier");
  const inPlaceOfAnother = told({ kind: "replaced", hadOne: true }, { ADMIN_API_KEY });
  expect(inPlaceOfAnother).toContain("the one in ADMIN_API_KEY; the earlier one no longer works");
});

test("the banner names the console and how to sign in", () => {
  const said = told({ kind: "kept", path: "/data/admin.key" });
  expect(said).toContain("http://127.0.0.1:8080/, with the admin key or the link of `prooftrail console`");
  expect(told({ kind: "kept" }, { ROLES: "projector" })).not.toContain("console");
});

test("a made key is shown in a terminal alone; elsewhere the banner names its file", () => {
  const made = { kind: "made", key: "ptk_secret", path: "/data/admin.key" } as const;
  expect(told(made, {}, true)).toContain("ptk_secret");
  expect(told(made)).not.toContain("ptk_secret");
  expect(told(made)).toContain("created; it is in /data/admin.key");
});

test("the example of the banner uses a key that works: its copy if there is one, else the operator's variable", () => {
  const ADMIN_API_KEY = "chosen-by-the-operator";
  const path = "/data/admin.key";
  expect(told({ kind: "made", key: "ptk_x", path })).toContain("Bearer $(cat /data/admin.key)");
  expect(told({ kind: "kept", path })).toContain("as before; a copy is in /data/admin.key");
  expect(told({ kind: "kept", path })).toContain("Bearer $(cat /data/admin.key)");
  // A folder may have any name, and a shell expands $(…) even within quotation marks.
  expect(told({ kind: "kept", path: "/my data/it's/admin.key" })).toContain(
    `Bearer $(cat '/my data/it'\\''s/admin.key')"`,
  );
  expect(told({ kind: "kept" })).toContain("the one that ADMIN_API_KEY set, or the first start created");
  expect(told({ kind: "kept" })).toContain("Bearer $ADMIN_API_KEY");
  for (const setup of [{ kind: "kept" }, { kind: "replaced", hadOne: true }] as const)
    expect(told(setup, { ADMIN_API_KEY })).toContain("Bearer $ADMIN_API_KEY");
});
