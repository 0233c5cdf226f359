/** Proofs of the log: signed tree heads, tiles, consistency of two heads. Text and bytes follow C2SP, so that its tools can read them. */

import { Type } from "@sinclair/typebox";
import { encodeBase64 } from "../../proof/base64.ts";
import { originOf } from "../../proof/seal.ts";
import type { SealedHead } from "../../proof/sealed-head.ts";
import { keyLines } from "../../proof/signed-note.ts";
import { formatTilePath, parseTilePath, TILE_WIDTH, tileWidth } from "../../proof/tlog-tiles.ts";
import { consistencyBetween, leavesUpTo, tileAt, treeSize } from "../../views/tree/queries.ts";
import { awaitHead, lastHead } from "../../views/tree/record-proof.ts";
import { TREE_VIEW } from "../../views/tree/tables.ts";
import { TREE } from "../http/access.ts";
import {
  type Answer,
  give,
  invalid,
  isRefusal,
  type Refusal,
  refuse,
  send,
  sendText,
} from "../http/answers.ts";
import type { Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { integer, minSequence } from "../http/parameters.ts";
import { requestUrl } from "../http/request-context.ts";
import type { Route } from "../http/route.ts";
import { str } from "../http/schemas.ts";
import { onceSeen, sequenceWait } from "../http/wait-for-view.ts";
import { EXAMPLE_CHECKPOINT, EXAMPLE_CONSISTENCY, EXAMPLE_KEY } from "./log-examples.ts";

const READ = { tag: "Proof", access: TREE } as const;
const HEAD_SEQUENCE = minSequence("The newest tree head then covers the tenant's records up to there.");
const OF_HEADS = ["not_found", "not_sealed", "view_behind"] as const;
const PLAIN = { gives: Type.String(), mediaType: "text/plain" };

export const logRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route, checkpoints, serviceName } = dependencies;
  return [
    route({
      ...READ,
      on: "GET /v1/log/checkpoint",
      id: "readCheckpoint",
      summary: "The newest signed tree head",
      description:
        "How many records the tenant's log has, and the root of the Merkle tree over them (RFC 6962), signed: a C2SP checkpoint. Keep it: nothing that it covers can later be changed or removed without contradicting it.",
      query: { sequence: HEAD_SEQUENCE },
      ...PLAIN,
      example: EXAMPLE_CHECKPOINT,
      problems: OF_HEADS,
      answer: async (call) => {
        const head = await headHolding(dependencies, call, call.asked.sequence);
        return isRefusal(head) ? head : sendText(head.note);
      },
    }),
    route({
      ...READ,
      on: "GET /v1/log/key",
      id: "readVerifierKey",
      summary: "The key that verifies tree heads",
      description:
        "Public keys as golang.org/x/mod/sumdb/note writes them, one per line: current signing keys first, then earlier ones. Get it once, from a source you trust, and keep it: a proof is worth only as much as the key that checks it.",
      // Nothing to wait for: keys are older than what they sign.
      query: { sequence: minSequence("Accepted as in every read; there is nothing to wait for.") },
      ...PLAIN,
      example: EXAMPLE_KEY,
      problems: ["not_found"],
      answer: async ({ principal: { tenant } }) => {
        const head = await lastHead({ checkpoints }, tenant);
        const keys = keyLines(await checkpoints.publicKeys(), originOf(serviceName, tenant), head?.note);
        return keys === ""
          ? refuse("not_found", "Nothing is signed yet: no sealer has run.")
          : sendText(keys);
      },
    }),
    consistencyRoute(dependencies),
    ...tileRoutes(dependencies),
  ];
};

/** The newest head, or why there is none. With `min_sequence` it is a head that covers that record. */
const headHolding = async (
  { views, checkpoints }: Dependencies,
  { principal: { tenant } }: Call,
  sequence: number | undefined,
): Promise<SealedHead | Refusal> => {
  const awaited = sequenceWait(sequence);
  const size = await onceSeen({ views, projections: [TREE_VIEW], awaited }, async () =>
    awaited === undefined ? 0 : await leavesUpTo(views, tenant, awaited.sequence),
  );
  if (size === undefined) return refuse("view_behind");
  if (awaited === undefined || size === 0) return (await lastHead({ checkpoints }, tenant)) ?? NOTHING_SEALED;
  return (await awaitHead({ checkpoints }, tenant, size, awaited.until)) ?? NOT_SEALED;
};

const NOTHING_SEALED = refuse(
  "not_found",
  "This tenant has no signed tree head yet: it has no events, or the sealer has not reached them.",
);
const NOT_SEALED = refuse(
  "not_sealed",
  "No signed tree head covers everything up to `min_sequence` yet. Retry.",
);

const FROM = integer("from", "Size of the older tree head.", { min: 0 });
const REQUIRED_FROM = { ...FROM, documented: FROM.documented.map((each) => ({ ...each, required: true })) };
const MISSING_FROM = invalid([
  { path: "query:from", code: "required", message: "Send the size of the older tree head." },
]);

const Hash = str("32 bytes in base64.");

const consistencyRoute = (dependencies: Dependencies): Route => {
  const { route, views } = dependencies;
  return route({
    ...READ,
    on: "GET /v1/log/consistency",
    id: "readConsistency",
    summary: "Prove that a tree head extends another",
    description:
      "The hashes that lead from the root at `from` leaves to the root at `to` (RFC 6962 §2.1.2): what was in the log then is still there, unchanged. Compare the roots with those of your checkpoints.",
    query: {
      from: REQUIRED_FROM,
      to: integer("to", "Size of the newer one. Unset: that of the newest checkpoint.", { min: 0 }),
      sequence: HEAD_SEQUENCE,
    },
    gives: Type.Object({
      from: Type.Integer(),
      to: Type.Integer(),
      from_root: Hash,
      to_root: Hash,
      proof: Type.Array(Hash),
    }),
    example: EXAMPLE_CONSISTENCY,
    problems: OF_HEADS,
    answer: async (call) => {
      const { tenant } = call.principal;
      const { from, sequence } = call.asked;
      if (from === undefined) return MISSING_FROM;
      const head = await headHolding(dependencies, call, sequence);
      if (isRefusal(head)) return head;
      const { to = head.size } = call.asked;
      for (const [name, size] of Object.entries({ to, from }))
        if (size > head.size)
          return wrong(name, `The newest signed tree head has ${head.size} leaves: send at most this.`);
      if (from > to) return wrong("from", "from is greater than to: send the smaller size in from.");
      const found = await consistencyBetween(views, tenant, { from, to });
      if (found === undefined) return TREE_BEHIND;
      const { fromRoot, toRoot, proof } = found;
      return give({
        from,
        to,
        from_root: encodeBase64(fromRoot),
        to_root: encodeBase64(toRoot),
        proof: proof.map(encodeBase64),
      });
    },
  });
};

const wrong = (name: string, message: string): Refusal =>
  invalid([{ path: `query:${name}`, code: "invalid_value", message }]);

/** The head is signed, but the view lacks its leaves: it is being rebuilt from the log. */
export const TREE_BEHIND = refuse(
  "view_behind",
  "The view `tree` is being rebuilt and has not reached this size yet.",
);

const LEVEL = { description: "0 for hashes of leaves.", example: "0" };

const tileRoutes = ({ route, views }: Dependencies): readonly Route[] => {
  const tile = {
    ...READ,
    on: "GET /v1/log/tile/:level/:number",
    id: "readTile",
    summary: "Hashes of the tree",
    description:
      "One tile of at most 256 hashes of 32 bytes, as in C2SP tlog-tiles: anybody can compute any root and any proof from them. `<level>/<number>` in groups of three digits, `.p/<width>` behind the number of a tile that is not full.",
    inPath: {
      level: LEVEL,
      number: {
        description:
          "Place in the level, three digits: `067`. From 1000 on each further group of three digits is a segment of the path, `x001/x234/067` for 1234067, which OpenAPI cannot express; it works all the same.",
        schema: { type: "string", pattern: "^[0-9]{3}$" },
        example: "067",
      },
    },
    views: [TREE_VIEW],
    gives: Type.String({ format: "binary" }),
    mediaType: "application/octet-stream",
    answer: (call: Call) => answerTile(views, call),
  } as const;
  return [
    route(tile),
    route({
      ...tile,
      on: "GET /v1/log/tile/:level/:number/:width",
      id: "readPartialTile",
      summary: "The hashes of a partial tile",
      description:
        "Like a full tile, but with this many hashes: the last tile of a level, at the size that a tree head signed, has fewer than 256. From number 1000 on with more segments too: `x001/234.p/17`.",
      inPath: {
        level: LEVEL,
        number: {
          description: "Place in the level, three digits, and `.p`.",
          schema: { type: "string", pattern: "^[0-9]{3}\\.p$" },
          example: "000.p",
        },
        width: {
          description: "How many hashes.",
          schema: { type: "integer", minimum: 1, maximum: TILE_WIDTH - 1 },
          example: 17,
        },
      },
    }),
    // Numbers of 1000 and more have more segments.
    route({ ...tile, on: "GET /v1/log/tile/*", isHidden: true }),
  ];
};

const TILE_PATH = "/tile/";

const answerTile = async (views: Dependencies["views"], call: Call): Promise<Answer> => {
  const { pathname } = requestUrl(call.request.url);
  const tile = parseTilePath(pathname.slice(pathname.indexOf(TILE_PATH) + TILE_PATH.length));
  if (tile === undefined)
    return refuse(
      "not_found",
      `No tile has this path. A path is <level>/<number>, as ${formatTilePath({ level: 0, index: 1_234_067, width: TILE_WIDTH })}, or with .p/<width> for a partial tile (C2SP tlog-tiles).`,
    );
  const { tenant } = call.principal;
  const bytes = await tileAt(views, tenant, tile);
  // A hash in a tile never changes, so tiles may be cached (C2SP tlog-tiles), but only by the asker, whose tenant it is.
  if (bytes)
    return send("application/octet-stream", Uint8Array.from(bytes), {
      "cache-control": "private, max-age=31536000, immutable",
      vary: "authorization, cookie",
    });
  const size = await treeSize(views, tenant);
  return refuse(
    "not_found",
    `The tree has ${size} leaves and no such tile: at that size it has ${tileWidth(tile, size)} hashes.`,
  );
};
