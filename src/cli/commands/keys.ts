/** `prooftrail keys …`: who may use the service. */
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { SCOPES } from "../../access/scopes.ts";
import { ROLES } from "../../access/seats.ts";
import { KEY_GRACE_SECONDS_MAX } from "../../limits.ts";
import { syncFolder } from "../../runtime/durable-file.ts";
import { printable } from "../../runtime/printable.ts";
import { type Answer, type Api, answering, dataOf, openApi } from "../api.ts";
import { type CommandGroup, type CommandSpec, type Input, option } from "../command.ts";
import { YES_OPTION } from "../confirm.ts";
import type { Context } from "../context.ts";
import { EXIT, type ExitCode, failure, reasonOf } from "../failure.ts";
import { asRecord, type JsonRecord, shown } from "../json.ts";
import { pages, printPagesAsJson } from "../lists.ts";
import {
  durationComplaint,
  durationSeconds,
  idComplaint,
  integerComplaint,
  jsonOption,
  queryFrom,
  SERVICE_OPTIONS,
} from "../options.ts";
import { printAnswer, recordText, tableText } from "../output.ts";
import { cellText } from "../table.ts";

const SAVE_OPTION = option(
  "--save",
  "file",
  "write the new key to this file, which must not exist yet and only you can read, instead of showing it",
  { isFile: true },
);

const COMMON = [...SERVICE_OPTIONS, jsonOption()];
const rate = integerComplaint({ min: 1 });

const create: CommandSpec = {
  name: "create",
  summary: "Create an API key; it is shown once",
  description: [
    "The admin key creates keys for any tenant, and a new tenant with its first key. Other keys create keys only for their own tenant, with no more rights than they have.",
  ],
  options: [
    option("--tenant", "name", "tenant that the key belongs to; else that of the key used"),
    option("--name", "text", "for people: what uses the key"),
    option("--scope", "scope", "what the key may do", { choices: SCOPES, isRepeatable: true }),
    option("--role", "role", "create a seat with this role, in place of --scope", { choices: ROLES }),
    option("--person", "text", "whom the key is for: an e-mail address or a subject"),
    option("--covers-asset", "asset", "an auditor's seat covers only this system", { isRepeatable: true }),
    option("--covers-from", "time", "an auditor's seat covers only what came later"),
    option("--covers-to", "time", "an auditor's seat covers only what came before"),
    option("--expires-at", "time", "refused from this time on, such as 2027-01-01T00:00:00Z"),
    option("--expires-in", "time", "the same as a span from now: 90d, 12h", { complaint: durationComplaint }),
    option("--requests-per-second", "number", "limit of requests", { complaint: rate }),
    option("--events-per-second", "number", "limit of events", { complaint: rate }),
    SAVE_OPTION,
    ...COMMON,
  ],
  examples: [
    [
      "a key for a team that sends and reads, for 90 days",
      'prooftrail keys create --tenant acme --name "acme production" \\\n  --scope events:write --scope events:read --expires-in 90d',
    ],
    [
      "the seat of an auditor, for one system and 30 days",
      "prooftrail keys create --role auditor --person j.kim@audit.example \\\n  --covers-asset credit_model --expires-in 30d",
    ],
    [
      "a key that goes into a file and is never on the screen",
      "prooftrail keys create --scope events:write --save writer.key",
    ],
  ],
  run: async (input, context) => {
    const body = createRequest(input, context);
    return await makeKey(input, context, { path: "/v1/keys", body, title: "The key was created." });
  },
};

const createRequest = (input: Input, { now }: Context): JsonRecord => {
  const at = input.text("--expires-at");
  const within = input.text("--expires-in");
  if (at !== undefined && within !== undefined)
    throw failure("wrong_use", "Give --expires-at or --expires-in, not both.");
  const end = within === undefined ? at : timeAfter(now(), within);
  if (input.texts("--scope").length === 0 && input.text("--role") === undefined)
    throw failure("wrong_use", "Give --scope for what the key may do, or --role for a seat.");
  const covers = {
    asset_ids: textsOrNone(input, "--covers-asset"),
    from: input.text("--covers-from"),
    to: input.text("--covers-to"),
  };
  const limits = {
    requests_per_second: input.integer("--requests-per-second"),
    events_per_second: input.integer("--events-per-second"),
  };
  return {
    tenant: input.text("--tenant"),
    name: input.text("--name"),
    scopes: textsOrNone(input, "--scope"),
    role: input.text("--role"),
    person: input.text("--person"),
    covers: unlessEmpty(covers),
    expires_at: end,
    rate_limit: unlessEmpty(limits),
  };
};

/** Asks for a new key, and shows it once or writes it to the file of --save, which is created before: a key that cannot be stored would be lost. */
const makeKey = async (
  input: Input,
  context: Context,
  { path, body, title }: { readonly path: string; readonly body: JsonRecord; readonly title: string },
): Promise<ExitCode> => {
  const api = await openApi(input, context);
  // From here on Ctrl-C must arrive as Interrupted, or it would leave the file.
  const signal = context.interruption();
  const saveTo = input.text("--save");
  const file =
    saveTo === undefined
      ? undefined
      : await open(saveTo, "wx", 0o600).catch((error: unknown) => {
          throw failure(
            "unreadable_file",
            `${saveTo} cannot be created: ${reasonOf(error)}.`,
            "Name a file that does not exist yet, in a folder that does and that you may write into.",
          );
        });
  let isKept = false;
  try {
    // Otherwise a power failure could lose the file's name, and with it a key that nobody can see again.
    if (saveTo !== undefined) await syncFolder(dirname(saveTo));
    const answer = await api.ask({ path, body: JSON.stringify(body), signal });
    const { api_key: secret, id } = dataOf(answer);
    try {
      await file?.writeFile(`${shown(secret)}\n`);
      await file?.sync();
    } catch (error) {
      throw failure(
        "unwritten_output",
        `${saveTo} cannot be written: ${reasonOf(error)}. The key ${shown(id)} was created, and nobody can see its secret any more.`,
        `Free space, create another, and revoke it: prooftrail keys revoke ${shown(id)}`,
      );
    }
    isKept = true;
    await printNewKey(context, input, answer, title);
  } finally {
    await file?.close();
    // If no key was created, the next attempt may use the name.
    if (saveTo !== undefined && !isKept) await rm(saveTo, { force: true });
  }
  return EXIT.ok;
};

const printNewKey = (context: Context, input: Input, answer: Answer, title: string): Promise<void> => {
  const path = input.text("--save");
  const { api_key: secret, previous, ...visible } = dataOf(answer);
  const old = asRecord(previous);
  const data = { ...visible, ...(old && { previous }), saved_to: path };
  return printAnswer(context, input, path === undefined ? { received: answer.text } : { data }, () =>
    [
      `${title}\n\n${recordText(context, visible)}`,
      ...(old
        ? [`\nThe old key ${printable(shown(old.id))} works until ${printable(shown(old.grace_until))}.\n`]
        : []),
      path === undefined
        ? `\nThis is the key. It is shown only now; keep it like a password:\n\n  ${printable(shown(secret))}\n`
        : `\nIt is in ${printable(path)}, which only you can read: --key-file ${printable(path)}\n`,
    ].join(""),
  );
};

const textsOrNone = (input: Input, flag: string): readonly string[] | undefined => {
  const texts = input.texts(flag);
  return texts.length > 0 ? texts : undefined;
};

const unlessEmpty = (members: JsonRecord): JsonRecord | undefined =>
  Object.values(members).some((member) => member !== undefined) ? members : undefined;

const timeAfter = (now: Date, within: string): string => {
  const end = new Date(now.getTime() + (durationSeconds(within) ?? 0) * 1000);
  if (Number.isNaN(end.getTime()) || end.getUTCFullYear() > YEAR_MAX)
    throw failure(
      "wrong_use",
      `--expires-in ${within} ends after the year ${YEAR_MAX}.`,
      "Give a shorter time.",
    );
  return end.toISOString();
};

/** RFC 3339 §1: years have four digits. */
const YEAR_MAX = 9999;

const TENANT = option("--tenant", "name", "only keys of this tenant");

const list: CommandSpec = {
  name: "list",
  summary: "List API keys, without their secrets",
  options: [TENANT, ...COMMON],
  examples: [
    ["every key that this key manages", "prooftrail keys list"],
    ["the ids of one tenant's keys", "prooftrail keys list --tenant acme --json | jq -r '.data[].id'"],
  ],
  run: async (input, context) => {
    const api = await openApi(input, context);
    const { out } = context;
    const read = pages(api, out, { path: "/v1/keys", query: queryFrom(input, [TENANT]) });
    if (input.isSet("--json")) {
      await printPagesAsJson(out, read);
      return EXIT.ok;
    }
    const keys = (await Array.fromAsync(read)).flatMap(({ rows }) => rows);
    const rows = keys.map((key) => ({
      ...key,
      name: key.name ?? key.person,
      state: stateText(key, context.now()),
    }));
    await out.write(
      rows.length === 0
        ? "There are no keys but the one used. Create one: prooftrail keys create\n"
        : tableText<JsonRecord>(context, ["id", "tenant", "name", "role", "scopes", "state"], rows),
    );
    return EXIT.ok;
  },
};

const stateText = ({ revoked_at, grace_until, expires_at }: JsonRecord, now: Date): string => {
  const day = (time: unknown): string => shown(time).slice(0, 10);
  const isOver = (time: unknown): boolean => typeof time === "string" && Date.parse(time) <= now.getTime();
  if (revoked_at !== undefined) return `revoked ${day(revoked_at)}`;
  if (grace_until !== undefined) return `${isOver(grace_until) ? "replaced" : "ends"} ${day(grace_until)}`;
  if (expires_at === undefined) return "active";
  return isOver(expires_at) ? `expired ${day(expires_at)}` : `until ${day(expires_at)}`;
};

const ID_ARGUMENT = {
  name: "id",
  description: "id of the key, as keys list shows it",
  complaint: idComplaint,
} as const;

const revoke: CommandSpec = {
  name: "revoke",
  summary: "Revoke a key, everywhere within a second",
  arguments: [ID_ARGUMENT],
  options: [YES_OPTION, ...COMMON],
  examples: [["asks first", "prooftrail keys revoke k3Yb0Qz81mNd"]],
  run: answering(
    (input) => ({ method: "DELETE", path: `/v1/keys/${encodeURIComponent(input.argument("id") ?? "")}` }),
    (_, { input }) => `The key ${printable(input.argument("id") ?? "")} is revoked.\n`,
    async (input, api) =>
      `Revoke the key ${await describeKey(api, input.argument("id") ?? "")}? What uses it stops working.`,
  ),
};

/** Lets a person see which key it is; the API refuses a key that is not in the list. */
const describeKey = async (api: Api, id: string): Promise<string> => {
  const read = await Array.fromAsync(pages(api, { isHeard: () => true }, { path: "/v1/keys" }));
  const key = read.flatMap(({ rows }) => rows).find((each) => each.id === id);
  if (!key)
    throw failure("failed", `There is no key ${id} that this key manages.`, "See: prooftrail keys list");
  const name = key.name === undefined ? "" : `"${shown(key.name)}", `;
  return `${id} (${name}tenant ${shown(key.tenant)}, ${cellText("scopes", key.scopes)})`;
};

const DAY_SECONDS = 24 * 60 * 60;

const graceComplaint = (text: string): string | undefined =>
  (durationSeconds(text) ?? 0) > KEY_GRACE_SECONDS_MAX
    ? `Give a week at most: ${KEY_GRACE_SECONDS_MAX / DAY_SECONDS}d.`
    : durationComplaint(text);

const rotate: CommandSpec = {
  name: "rotate",
  summary: "Replace a key; the new one is shown once",
  arguments: [ID_ARGUMENT],
  options: [
    option("--grace", "time", "how long the old key still works: 1h, 7d; default a day, at most a week", {
      complaint: graceComplaint,
    }),
    SAVE_OPTION,
    ...COMMON,
  ],
  examples: [["the old key works for another hour", "prooftrail keys rotate k3Yb0Qz81mNd --grace 1h"]],
  run: async (input, context) => {
    const body = { grace_seconds: durationSeconds(input.text("--grace") ?? "") };
    const path = `/v1/keys/${encodeURIComponent(input.argument("id") ?? "")}/rotate`;
    return await makeKey(input, context, { path, body, title: "The key has a successor." });
  },
};

export const KEYS: CommandGroup = {
  name: "keys",
  summary: "API keys: create, list, revoke, replace",
  commands: [create, list, revoke, rotate],
};
