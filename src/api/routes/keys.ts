import { Elysia } from "elysia";
import { CreateKeyRequest, KeyView, RotateKeyRequest } from "../../access/key-record.ts";
import type { KeyNotFound, KeyRefusal, Keys, KeysUndone } from "../../access/keys.ts";
import { KEYS_PER_TENANT_MAX } from "../../limits.ts";
import { MANAGING } from "../http/access.ts";
import type { BodyReader } from "../http/body.ts";
import { actorOf, type Call } from "../http/call.ts";
import type { ExportDependencies } from "../http/downloads.ts";
import { fileForms } from "../http/entry-file.ts";
import { type Guard, insufficientScope } from "../http/guard.ts";
import { readJson } from "../http/json-body.ts";
import { answerKeptList, KEPT_PARAMETERS, readKeptForm } from "../http/list-answer.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation, type Parameter } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { readQuery } from "../http/query.ts";
import { readTenant, tenantParameter } from "../http/reading.ts";
import { refusedChange } from "../http/refused-change.ts";
import type { RequestContext } from "../http/request-context.ts";
import { KeyAnswer, KeyList, NewKeyAnswer, RotatedKeyAnswer } from "../http/schemas.ts";
import { success } from "../http/success.ts";
import { timeRangeParameters } from "../http/time-range.ts";
import { withoutQuery } from "../http/without-query.ts";

interface Dependencies extends ExportDependencies {
  readonly keys: Keys;
  readonly bodies: BodyReader;
}

export const keyRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) =>
  new Elysia({ prefix: "/v1" })
    .post(
      "/keys",
      guard(
        MANAGING,
        withoutQuery((call) => postKey(dependencies, call)),
      ),
      { parse: "none", detail: describe(CREATE) },
    )
    .get(
      "/keys",
      guard(MANAGING, (call) => getKeys(dependencies, call)),
      { detail: describe(LIST) },
    )
    .delete(
      "/keys/:id",
      guard(
        MANAGING,
        withoutQuery((call) => deleteKey(dependencies.keys, call)),
      ),
      { parse: "none", detail: describe(REVOKE) },
    )
    .post(
      "/keys/:id/rotate",
      guard(
        MANAGING,
        withoutQuery((call) => rotateKey(dependencies, call)),
      ),
      {
        parse: "none",
        detail: describe(ROTATE),
      },
    );

const postKey = async ({ keys, bodies }: Dependencies, call: Call): Promise<Response> => {
  const { context } = call;
  const body = await readJson(bodies, call);
  if (body instanceof Response) return body;
  const answer = await keys.create({ by: actorOf(call), request: body.value });
  if (answer.kind !== "created") return refusedKey(context, answer);
  return success({
    status: 201,
    requestId: context.requestId,
    data: { ...answer.key, api_key: answer.apiKey },
  });
};

const getKeys = async (dependencies: Dependencies, call: Call): Promise<Response> => {
  const { request, context, principal } = call;
  const query = readQuery(request.url);
  const tenant = readTenant(query);
  const form = readKeptForm(query);
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  const answer = dependencies.keys.list({ principal, ...(tenant !== undefined && { tenant }) });
  if (answer.kind !== "listed") return refusedKey(context, answer);
  return answerKeptList(dependencies, call, {
    name: "keys",
    columns: KEY_COLUMNS,
    rows: answer.keys,
    tenant,
    form,
  });
};

const deleteKey = async (keys: Keys, call: Call): Promise<Response> => {
  const { context, params } = call;
  const answer = await keys.revoke({ by: actorOf(call), id: params.id ?? "" });
  if (answer.kind !== "revoked") return refusedKey(context, answer);
  return success({ requestId: context.requestId, data: answer.key });
};

const rotateKey = async ({ keys, bodies }: Dependencies, call: Call): Promise<Response> => {
  const { context, params } = call;
  const body = await readJson(bodies, call, { value: {} });
  if (body instanceof Response) return body;
  const answer = await keys.rotate({
    by: actorOf(call),
    id: params.id ?? "",
    request: body.value,
  });
  if (answer.kind !== "rotated") return refusedKey(context, answer);
  const data = { ...answer.key, api_key: answer.apiKey, previous: answer.previous };
  return success({ status: 201, requestId: context.requestId, data });
};

export const refusedKey = (
  context: RequestContext,
  refusal: KeyRefusal | KeyNotFound | KeysUndone,
): Response =>
  refusal.kind === "insufficient_scope"
    ? insufficientScope(context, refusal.scope)
    : refusedChange(context, refusal, {
        name: "key",
        changed: "this key",
        unavailable: "The keys could not be changed",
      });

const KEY_COLUMNS = Object.keys(KeyView.properties);

const EXAMPLE_KEY = {
  id: "k3Yb0Qz81mNd",
  tenant: "acme",
  name: "acme production",
  scopes: ["events:write", "events:read"],
  created_at: "2026-11-20T10:00:00.000Z",
  created_by: "admin",
};
const EXAMPLE_API_KEY = "ptk_k3Yb0Qz81mNd_…";
const ID: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "Id of the key.",
  schema: { type: "string" },
};

const CREATE: Operation = {
  id: "createKey",
  tag: "Keys",
  summary: "Make a key",
  description:
    "The whole key is shown only in this answer. The admin key makes keys for every tenant, and with them the tenant; any other only for its own, with no more than it has itself. Of the tenant `prooftrail-system`, which holds what administrators did, only the admin key makes keys, with `events:read` alone. A key with a `role` is a seat: the role gives its scopes, so `scopes` is left out. " +
    `A tenant has at most ${KEYS_PER_TENANT_MAX} keys, expired and revoked ones included, as none is ever removed; rotating goes on past that.`,
  access: MANAGING,
  body: {
    schema: CreateKeyRequest,
    example: { tenant: "acme", name: "acme production", scopes: ["events:write", "events:read"] },
  },
  answer: {
    status: 201,
    description: "The new key.",
    schema: NewKeyAnswer,
    example: { data: { ...EXAMPLE_KEY, api_key: EXAMPLE_API_KEY }, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["log_behind", "log_unavailable"],
};

const LIST: Operation = {
  id: "listKeys",
  tag: "Keys",
  summary: "List keys",
  description:
    "Oldest first by `created_at`, and of one moment by `id`, so that pages neither shift nor repeat; revoked ones included. The admin key sees every tenant's.",
  access: MANAGING,
  parameters: [
    tenantParameter("Only this tenant's keys. Any but the admin key may only name its own."),
    ...timeRangeParameters("What counts is `created_at`."),
    ...KEPT_PARAMETERS,
  ],
  answer: {
    status: 200,
    description: "Keys that this key manages.",
    schema: KeyList,
    example: { data: [EXAMPLE_KEY], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
    others: fileForms(KEY_COLUMNS, EXAMPLE_KEY),
  },
  problems: ["invalid_request", "overloaded", "log_unavailable"],
};

const REVOKE: Operation = {
  id: "revokeKey",
  tag: "Keys",
  summary: "Revoke a key",
  description:
    "Refused everywhere within a second, and so are requests that still send their body or wait for something then, other changes of the same key included. Revoking a revoked key changes nothing.",
  access: MANAGING,
  parameters: [ID],
  answer: {
    status: 200,
    description: "The revoked key.",
    schema: KeyAnswer,
    example: {
      data: { ...EXAMPLE_KEY, revoked_at: "2026-11-21T08:00:00.000Z" },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: [
    "invalid_request",
    "not_found",
    "changed_meanwhile",
    "log_behind",
    "log_unavailable",
    "overloaded",
  ],
};

const ROTATE: Operation = {
  id: "rotateKey",
  tag: "Keys",
  summary: "Replace a key",
  description:
    "Makes a successor with the same rights. The old key still works for `grace_seconds`, so that nothing stops meanwhile. Keys that it makes meanwhile end with it at the latest; it can rotate itself again where the answer was lost, and gets another successor. If others may know a key, rotate it with `grace_seconds` 0, or revoke it.",
  access: MANAGING,
  parameters: [ID],
  body: { schema: RotateKeyRequest, example: { grace_seconds: 86_400 }, required: false },
  answer: {
    status: 201,
    description: "The successor, and the key that it replaces.",
    schema: RotatedKeyAnswer,
    example: {
      data: {
        ...EXAMPLE_KEY,
        id: "Zt7f2LxW0aPe",
        api_key: "ptk_Zt7f2LxW0aPe_…",
        previous: { ...EXAMPLE_KEY, replaced_by: "Zt7f2LxW0aPe", grace_until: "2026-11-21T10:00:00.000Z" },
      },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: ["not_found", "changed_meanwhile", "log_behind", "log_unavailable", "overloaded"],
};
