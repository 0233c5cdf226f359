import { expect, test } from "bun:test";
import { misspeltSettings } from "./misspelt-settings.ts";

test("a variable with nearly the name of a setting is named if that setting is not set, and no other variable is", () => {
  expect(
    misspeltSettings({ DATADIR: "/srv", DATABASE_URI: "postgres://user:hunter2@host/db", port: "90" }),
  ).toEqual([
    "DATADIR is no setting, and DATA_DIR is not set: was that meant?",
    "DATABASE_URI is no setting, and DATABASE_URL is not set: was that meant?",
    "port is no setting, and PORT is not set: was that meant?",
  ]);
  expect(misspeltSettings({ ADMIN_APIKEY: "hunter2", NATS_URI: "nats://host" })).toHaveLength(2);
  expect(misspeltSettings({ LOGLEVEL: "info", LOG_LEVEL: "info", DATA_DIR: "/srv" })).toEqual([]);
  const usual =
    "PATH HOME HOSTNAME HOSTTYPE USER LOGNAME SHELL PWD OLDPWD LANG LC_ALL TERM TZ EDITOR MAIL TMPDIR";
  const others =
    "XDG_DATA_DIRS NODE_ENV NATS_SERVICE_HOST NATS_SERVICE_PORT POSTGRES_DB PGHOST PGPORT PROOFTRAIL_URL";
  const ofOtherPrograms = "GEMINI_API_KEY DATABASE_USER DATABASE_PORT DATABASE_DSN CHECKPOINT_URL";
  const ofOtherClients = "NATS_SSL NATS_TLS DATABASE_SSL DATA_URL";
  const names = `${usual} ${others} ${ofOtherPrograms} ${ofOtherClients}`.split(" ");
  expect(misspeltSettings(Object.fromEntries(names.map((name) => [name, ""])))).toEqual([]);
  const roleIs = (ROLE: string) => misspeltSettings({ ROLE }).length;
  expect([roleIs("api,sealer"), roleIs("worker")]).toEqual([1, 0]);
  expect(misspeltSettings({ TRUSTED_PROXY: "1", NTAS_URL: "nats://host", STREAM_REPLICA: "3" })).toHaveLength(
    3,
  );
});
