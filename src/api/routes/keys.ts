import { Type } from "@sinclair/typebox";
import { CreateKeyRequest, KeyView, NewKeyView, RotateKeyRequest } from "../../access/key-record.ts";
import { KEYS_PER_TENANT_MAX } from "../../limits.ts";
import { MANAGING } from "../http/access.ts";
import { give } from "../http/answers.ts";
import { actorOf } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { keptSource, listRoute } from "../http/lists.ts";
import { tenant } from "../http/parameters.ts";
import { refusedChange } from "../http/refused-change.ts";
import { bodyFor, type Route } from "../http/route.ts";

const KEYS = { access: MANAGING, tag: "Keys" } as const;
const ID = { id: { description: "Id of the key." } };
export const CHANGED = ["not_found", "changed_meanwhile", "log_unavailable", "overloaded"] as const;

export const keyRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route, keys } = dependencies;
  return [
    route({
      ...KEYS,
      on: "POST /v1/keys",
      id: "createKey",
      summary: "Make a key",
      description:
        "The whole key is shown only in this answer. The admin key makes keys for every tenant, which creates the tenant; any other key only for its own tenant, with no more rights than it has. Of the tenant `prooftrail-system`, which holds what administrators did, only the admin key makes keys, with `events:read` alone. A key with a `role` is a seat: the role gives its scopes, so `scopes` is left out. " +
        `A tenant has at most ${KEYS_PER_TENANT_MAX} keys, expired and revoked ones included, as none is ever removed; rotating goes on past that.`,
      body: bodyFor(CreateKeyRequest, {
        tenant: "acme",
        name: "acme production",
        scopes: ["events:write", "events:read"],
      }),
      status: 201,
      gives: NewKeyView,
      problems: ["log_unavailable"],
      answer: async (call) => {
        const made = await keys.create({ by: actorOf(call), request: call.body });
        return made.kind === "created" ? give({ ...made.key, api_key: made.apiKey }) : refusedChange(made);
      },
    }),
    listRoute(
      dependencies,
      keptSource({
        name: "keys",
        members: KeyView.properties,
        tenant: tenant("Only this tenant's keys. Any but the admin key may only name its own."),
        rows: (principal, of) => {
          const listed = keys.list({ principal, ...(of !== undefined && { tenant: of }) });
          return listed.kind === "listed" ? listed.keys : refusedChange(listed);
        },
      }),
      {
        ...KEYS,
        on: "GET /v1/keys",
        id: "listKeys",
        summary: "List keys",
        description:
          "Oldest first by `created_at`, and of one moment by `id`, so that pages neither shift nor repeat; revoked ones included. The admin key sees every tenant's.",
      },
    ),
    route({
      ...KEYS,
      on: "DELETE /v1/keys/:id",
      id: "revokeKey",
      summary: "Revoke a key",
      description:
        "Refused everywhere within a second, and so are requests that still send their body or wait for something then, other changes of the same key included. Revoking a revoked key changes nothing.",
      inPath: ID,
      gives: KeyView,
      problems: CHANGED,
      answer: async (call) => {
        const revoked = await keys.revoke({ by: actorOf(call), id: call.params.id ?? "" });
        return revoked.kind === "revoked" ? give(revoked.key) : refusedChange(revoked);
      },
    }),
    rotateRoute(dependencies),
  ];
};

const rotateRoute = ({ route, keys }: Dependencies): Route =>
  route({
    ...KEYS,
    on: "POST /v1/keys/:id/rotate",
    id: "rotateKey",
    summary: "Replace a key",
    description:
      "Makes a successor with the same rights. The old key still works for `grace_seconds`, so that nothing stops meanwhile. Keys that it makes meanwhile end with it at the latest; it can rotate itself again where the answer was lost, and gets another successor. If others may know a key, rotate it with `grace_seconds` 0, or revoke it.",
    inPath: ID,
    body: { ...bodyFor(RotateKeyRequest, { grace_seconds: 86_400 }), isOptional: true },
    status: 201,
    gives: Type.Object({ ...NewKeyView.properties, previous: KeyView }),
    problems: CHANGED,
    answer: async (call) => {
      const { params, body: request } = call;
      const rotated = await keys.rotate({ by: actorOf(call), id: params.id ?? "", request });
      if (rotated.kind !== "rotated") return refusedChange(rotated);
      return give({ ...rotated.key, api_key: rotated.apiKey, previous: rotated.previous });
    },
  });
