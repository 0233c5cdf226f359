/** `prooftrail keys …`: who may use the service. */
import { SCOPES } from "../../access/scopes.ts";
import { ROLES } from "../../access/seats.ts";
import { KEY_GRACE_SECONDS_MAX } from "../../limits.ts";
import { printable } from "../../runtime/printable.ts";
import { type Api, openApi } from "../api.ts";
import { durationComplaint, durationSeconds, idComplaint, integerComplaint } from "../argument-values.ts";
import { type CommandGroup, type CommandSpec, type Input, option } from "../command.ts";
import { confirm, YES_OPTION } from "../confirm.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { failure } from "../failure.ts";
import { type JsonRecord, shown } from "../json.ts";
import { findKeyRecord, pages, printPagesAsJson } from "../lists.ts";
import { openSave, printNewKey, SAVE_OPTION, scopesText } from "../new-key.ts";
import { printAnswer, tableText } from "../output.ts";
import { queryFrom } from "../query.ts";
import { jsonOption, SERVICE_OPTIONS } from "../shared-options.ts";
import type { Column } from "../table.ts";

const COMMON = [...SERVICE_OPTIONS, jsonOption()];
const rate = integerComplaint({ min: 1 });

const create: CommandSpec = {
  name: "create",
  summary: "Make an API key; it is shown once",
  description: [
    "The admin key makes keys for every tenant, and with them the tenant; any other key only for its own, with no more rights than it has itself.",
  ],
  options: [
    option("--tenant", "name", "tenant that the key belongs to; else that of the key used"),
    option("--name", "text", "for people: what uses the key"),
    option("--scope", "scope", "what the key may do", { choices: SCOPES, isRepeatable: true }),
    option("--role", "role", "make a seat with this role, in place of --scope", { choices: ROLES }),
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
    const api = await openApi(input, context);
    const signal = context.interruption();
    await using saved = await openSave(input);
    const answer = await api.ask({ path: "/v1/keys", body: JSON.stringify(body), signal });
    await printNewKey(context, input, { answer, saved, title: "The key was made." });
    return EXIT.ok;
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
    const read = pages(api, { path: "/v1/keys", query: queryFrom(input, [TENANT]), isHeard: out.isHeard });
    if (input.isSet("--json")) {
      await printPagesAsJson(out, read);
      return EXIT.ok;
    }
    const keys = (await Array.fromAsync(read)).flatMap(({ rows }) => rows);
    await out.write(
      keys.length === 0
        ? "There are no keys but the one used. Make one: prooftrail keys create\n"
        : tableText(context, columnsAt(context.now()), keys),
    );
    return EXIT.ok;
  },
};

const columnsAt = (now: Date): readonly Column<JsonRecord>[] => [
  { title: "ID", value: ({ id }) => shown(id), isId: true },
  { title: "TENANT", value: ({ tenant }) => shown(tenant) },
  { title: "NAME", value: ({ name }) => shown(name) },
  { title: "SCOPES", value: scopesText },
  { title: "STATE", value: (key) => stateText(key, now) },
];

const stateText = ({ revoked_at, grace_until, expires_at }: JsonRecord, now: Date): string => {
  const day = (time: unknown): string => shown(time).slice(0, 10);
  const isOver = (time: unknown): boolean => typeof time === "string" && Date.parse(time) <= now.getTime();
  if (revoked_at !== undefined) return `revoked ${day(revoked_at)}`;
  if (grace_until !== undefined) return `${isOver(grace_until) ? "replaced" : "ends"} ${day(grace_until)}`;
  if (expires_at === undefined) return "works";
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
  run: async (input, context) => {
    const id = input.argument("id") ?? "";
    const api = await openApi(input, context);
    const question = async () => `Revoke the key ${await describeKey(api, id)}? What uses it stops working.`;
    if (!(await confirm(context, input, question))) return EXIT.failed;
    const answer = await api.ask({ method: "DELETE", path: `/v1/keys/${encodeURIComponent(id)}` });
    const text = () => `The key ${printable(id)} is revoked.\n`;
    await printAnswer(context, input, { received: answer.text }, text);
    return EXIT.ok;
  },
};

/** Lets a person see which key it is; the API refuses a key that is not in the list. */
const describeKey = async (api: Api, id: string): Promise<string> => {
  const key = await findKeyRecord(api, id);
  if (!key)
    throw failure("failed", `There is no key ${id} that this key manages.`, "See: prooftrail keys list");
  const name = key.name === undefined ? "" : `"${shown(key.name)}", `;
  return `${id} (${name}tenant ${shown(key.tenant)}, ${scopesText(key)})`;
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
    const grace = input.text("--grace");
    const body = grace === undefined ? {} : { grace_seconds: durationSeconds(grace) };
    const api = await openApi(input, context);
    const signal = context.interruption();
    await using saved = await openSave(input);
    const path = `/v1/keys/${encodeURIComponent(input.argument("id") ?? "")}/rotate`;
    const answer = await api.ask({ path, body: JSON.stringify(body), signal });
    await printNewKey(context, input, { answer, saved, title: "The key has a successor." });
    return EXIT.ok;
  },
};

export const KEYS: CommandGroup = {
  name: "keys",
  summary: "API keys: make, list, revoke, replace",
  commands: [create, list, revoke, rotate],
};
