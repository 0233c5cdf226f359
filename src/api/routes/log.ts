/**
 * Proofs of the log: signed tree heads, tiles of the tree, and consistency of two heads. Text and bytes follow C2SP, so that its tools can
 * read them.
 */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { encodeBase64 } from "../../proof/base64.ts";
import type { CheckpointStore } from "../../proof/checkpoint-store.ts";
import { originOf } from "../../proof/seal.ts";
import type { SealedHead } from "../../proof/sealed-head.ts";
import { formatTilePath, parseTilePath, TILE_WIDTH, tileWidth } from "../../proof/tlog-tiles.ts";
import { verifierKeys } from "../../proof/verifier-keys.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { consistencyBetween, leavesUpTo, rootAt, tileAt, treeSize } from "../../views/tree/queries.ts";
import { awaitHead, lastHead } from "../../views/tree/record-proof.ts";
import { TREE_VIEW } from "../../views/tree/tables.ts";
import { TREE } from "../http/access.ts";
import type { Call } from "../http/call.ts";
import type { Guard } from "../http/guard.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation, type Parameter } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { readQuery } from "../http/query.ts";
import {
  countFrom,
  MIN_SEQUENCE,
  onceSeen,
  parameter,
  pathParameter,
  reading,
  readMinSequence,
  sequenceWait,
} from "../http/reading.ts";
import { requestUrl } from "../http/request-url.ts";
import { dataOf } from "../http/schemas.ts";
import { success, successPlain } from "../http/success.ts";
import { refusedQuery } from "../http/without-query.ts";
import { EXAMPLE_CHECKPOINT, EXAMPLE_CONSISTENCY, EXAMPLE_KEY } from "./log-examples.ts";

interface Dependencies {
  readonly views: ViewStore;
  readonly checkpoints: CheckpointStore;
  readonly serviceName: string;
}

export const logRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) =>
  new Elysia({ prefix: "/v1/log" })
    .get("/checkpoint", guard(TREE, getCheckpoint(dependencies)), { detail: describe(CHECKPOINT) })
    .get("/key", guard(TREE, getKey(dependencies)), { detail: describe(KEY) })
    .get("/consistency", guard(TREE, getConsistency(dependencies)), {
      detail: describe(CONSISTENCY),
    })
    .get("/tile/:level/:number", guard(TREE, getTile(dependencies)), { detail: describe(TILE) })
    .get("/tile/:level/:number/:width", guard(TREE, getTile(dependencies)), {
      detail: describe(PARTIAL_TILE),
    })
    // Numbers of 1000 and more have more segments.
    .get("/tile/*", guard(TREE, getTile(dependencies)), { detail: { hide: true } });

const getCheckpoint =
  (dependencies: Dependencies) =>
  async (call: Call): Promise<Response> => {
    const { request, context } = call;
    const query = readQuery(request.url);
    const minSequence = readMinSequence(query);
    const errors = query.errors();
    if (errors.length > 0) return problem(context, "invalid_request", { errors });
    const head = await headHolding(dependencies, call, minSequence);
    return head instanceof Response ? head : successPlain(context.requestId, head.note);
  };

/** The newest head, or the answer why there is none. With `min_sequence` it is a head that covers that record. */
const headHolding = async (
  { views, checkpoints }: Dependencies,
  call: Call,
  minSequence: number | undefined,
): Promise<SealedHead | Response> => {
  const { context, principal } = call;
  const { tenant } = principal;
  const awaited = sequenceWait(minSequence);
  const size = await onceSeen({ views, projections: [TREE_VIEW], awaited }, async () =>
    awaited === undefined ? 0 : await leavesUpTo(views, tenant, awaited.sequence),
  );
  if (size === undefined) return problem(context, "view_behind");
  if (awaited === undefined || size === 0)
    return (await lastHead({ checkpoints }, tenant)) ?? nothingSealed(call);
  const detail = "No signed tree head holds everything up to `min_sequence` yet. Ask again.";
  return (
    (await awaitHead({ checkpoints }, tenant, size, awaited.until)) ??
    problem(context, "not_sealed", { detail })
  );
};

const nothingSealed = ({ context }: Call): Response =>
  problem(context, "not_found", {
    detail:
      "No tree head of this tenant is signed yet: it has no events, or the sealer has not reached them.",
  });

const getKey =
  ({ checkpoints, serviceName }: Dependencies) =>
  async (call: Call): Promise<Response> => {
    // `min_sequence` is accepted as by every read. There is nothing to wait for: keys are older than what they sign.
    const refused = refusedQuery(call, readMinSequence);
    if (refused) return refused;
    const { tenant } = call.principal;
    const origin = originOf(serviceName, tenant);
    const head = await lastHead({ checkpoints }, tenant);
    const keys = await verifierKeys(checkpoints, origin, head?.note);
    if (keys !== "") return successPlain(call.context.requestId, keys);
    return problem(call.context, "not_found", {
      detail: "No key has signed here yet: no sealer has run.",
    });
  };

const getConsistency =
  (dependencies: Dependencies) =>
  async (call: Call): Promise<Response> => {
    const { views } = dependencies;
    const { request, context, principal } = call;
    const query = readQuery(request.url);
    const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
    const from = query.integer("from", bounds);
    const asked = query.integer("to", bounds);
    const minSequence = readMinSequence(query);
    const errors = [...query.errors()];
    if (from === undefined && errors.length === 0) errors.push(MISSING_FROM);
    if (from === undefined || errors.length > 0) return problem(context, "invalid_request", { errors });
    const head = await headHolding(dependencies, call, minSequence);
    if (head instanceof Response) return head;
    const to = asked ?? head.size;
    const beyond = Object.entries({ to, from }).find(([, size]) => size > head.size);
    const wrong = beyond ? beyondHead(beyond[0], head.size) : from > to ? FROM_BEYOND_TO : undefined;
    if (wrong) return problem(context, "invalid_request", { errors: [wrong] });
    const proof = await consistencyBetween(views, principal.tenant, { from, to });
    const [fromRoot, toRoot] = [
      await rootAt(views, principal.tenant, from),
      await rootAt(views, principal.tenant, to),
    ];
    if (!(proof && fromRoot && toRoot)) return treeBehind(call);
    const data = {
      from,
      to,
      from_root: encodeBase64(fromRoot),
      to_root: encodeBase64(toRoot),
      proof: proof.map(encodeBase64),
    };
    return success({ requestId: context.requestId, data });
  };

const MISSING_FROM = {
  path: "query:from",
  code: "required",
  message: "Send the size of the older tree head.",
};
const FROM_BEYOND_TO = {
  path: "query:from",
  code: "invalid_value",
  message: "from is greater than to: send the smaller size in from.",
};
const beyondHead = (name: string, size: number) => ({
  path: `query:${name}`,
  code: "invalid_value",
  message: `The newest signed tree head has ${size} leaves: send at most that.`,
});

/** The head is signed, but the view lacks its leaves: it is being rebuilt from the log. */
export const treeBehind = ({ context }: Call): Response =>
  problem(context, "view_behind", {
    detail: "The view `tree` is being rebuilt and has not reached this size yet.",
  });

const TILE_PATH = "/tile/";

const getTile = ({ views }: Dependencies) =>
  reading(views, { view: TREE_VIEW, ask: () => undefined, answer: (_, call) => answerTile(views, call) });

const answerTile = async (views: ViewStore, call: Call): Promise<Response> => {
  const { pathname } = requestUrl(call.request.url);
  const tile = parseTilePath(pathname.slice(pathname.indexOf(TILE_PATH) + TILE_PATH.length));
  if (tile === undefined)
    return problem(call.context, "not_found", {
      detail: `No tile has this path. A path is <level>/<number>, as ${formatTilePath({ level: 0, index: 1_234_067, width: TILE_WIDTH })}, or with .p/<width> for a tile that is not full (C2SP tlog-tiles).`,
    });
  const { tenant } = call.principal;
  const bytes = await tileAt(views, tenant, tile);
  if (bytes) return new Response(Uint8Array.from(bytes), { headers: tileHeaders(call) });
  const size = await treeSize(views, tenant);
  return problem(call.context, "not_found", {
    detail: `The tree has ${size} leaves, and no such tile: at that size it has ${tileWidth(tile, size)} hashes.`,
  });
};

/** A hash in a tile never changes, so tiles may be cached (C2SP tlog-tiles), but only by the asker, whose tenant it is. */
const tileHeaders = ({ context }: Call) => ({
  "content-type": "application/octet-stream",
  "cache-control": "private, max-age=31536000, immutable",
  vary: "authorization, cookie",
  "x-request-id": context.requestId,
});

const HEAD_MIN_SEQUENCE: Parameter = {
  ...MIN_SEQUENCE,
  description: `${MIN_SEQUENCE.description} The newest tree head holds all records of the tenant up to there then.`,
};

const CHECKPOINT: Operation = {
  id: "readCheckpoint",
  tag: "Proof",
  summary: "The newest signed tree head",
  description:
    "How many records the tenant's log has, and the root of the Merkle tree over them (RFC 6962), signed: a C2SP checkpoint. Keep it: nothing that it covers can be changed or left out later without contradicting it.",
  access: TREE,
  parameters: [HEAD_MIN_SEQUENCE],
  answer: {
    status: 200,
    description: "The checkpoint, a signed note.",
    schema: Type.String(),
    example: EXAMPLE_CHECKPOINT,
    mediaType: "text/plain",
  },
  problems: ["invalid_request", "not_found", "not_sealed", "view_behind", "log_unavailable"],
};

const KEY: Operation = {
  id: "readVerifierKey",
  tag: "Proof",
  summary: "The key that verifies tree heads",
  description:
    "Public keys as golang.org/x/mod/sumdb/note writes them, one per line: those that sign now first, then those that once did. Get it once, from a source that you trust, and keep it: a proof is worth only as much as the key that checks it.",
  access: TREE,
  parameters: [{ ...MIN_SEQUENCE, description: "Accepted as for every read; there is nothing to wait for." }],
  answer: {
    status: 200,
    description: "One key per line.",
    schema: Type.String(),
    example: EXAMPLE_KEY,
    mediaType: "text/plain",
  },
  problems: ["invalid_request", "not_found", "log_unavailable"],
};

const Hash = Type.String({ description: "32 bytes in base64." });

const ConsistencyAnswer = dataOf(
  Type.Object({
    from: Type.Integer(),
    to: Type.Integer(),
    from_root: Hash,
    to_root: Hash,
    proof: Type.Array(Hash),
  }),
);

const CONSISTENCY: Operation = {
  id: "readConsistency",
  tag: "Proof",
  summary: "That one tree head extends another",
  description:
    "The hashes that lead from the root at `from` leaves to the root at `to` (RFC 6962 §2.1.2): what was in the log then is in it now, unchanged. Compare the roots with those of checkpoints that you hold.",
  access: TREE,
  parameters: [
    { ...parameter("from", "Size of the older tree head.", countFrom(0)), required: true },
    parameter("to", "Size of the newer one. Unset: that of the newest checkpoint.", countFrom(0)),
    HEAD_MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "Both roots and the hashes between.",
    schema: ConsistencyAnswer,
    example: { data: EXAMPLE_CONSISTENCY, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request", "not_found", "not_sealed", "view_behind", "log_unavailable"],
};

const TILE: Operation = {
  id: "readTile",
  tag: "Proof",
  summary: "Hashes of the tree",
  description:
    "One tile of at most 256 hashes of 32 bytes, as C2SP tlog-tiles lays them out: from them anybody can compute any root and any proof. `<level>/<number>` in groups of three digits, `.p/<width>` behind the number of a tile that is not full.",
  access: TREE,
  parameters: [
    { ...pathParameter("level", "0"), description: "0 for hashes of leaves." },
    {
      ...pathParameter("number", "067"),
      description:
        "Place in the level, three digits: `067`. From 1000 on each further group of three digits is a segment of the path, `x001/x234/067` for 1234067, for which OpenAPI has no parameter; it is answered nevertheless.",
      schema: { type: "string", pattern: "^[0-9]{3}$" },
    },
    MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "The hashes, one after the other.",
    schema: Type.String({ format: "binary" }),
    example: "",
    mediaType: "application/octet-stream",
  },
  problems: ["invalid_request", "not_found", "view_behind"],
};

const PARTIAL_TILE: Operation = {
  ...TILE,
  id: "readPartialTile",
  summary: "The first hashes of a tile that is not full",
  description:
    "As a full tile, cut to so many hashes: the last tile of a level, at the size that a tree head signed, has less than 256. From number 1000 on with more segments as well: `x001/234.p/17`.",
  parameters: [
    { ...pathParameter("level", "0"), description: "0 for hashes of leaves." },
    {
      ...pathParameter("number", "000.p"),
      description: "Place in the level, three digits, and `.p`.",
      schema: { type: "string", pattern: "^[0-9]{3}\\.p$" },
    },
    {
      ...pathParameter("width", "17"),
      description: "How many hashes.",
      schema: { type: "integer", minimum: 1, maximum: TILE_WIDTH - 1 },
      example: 17,
    },
    MIN_SEQUENCE,
  ],
};
