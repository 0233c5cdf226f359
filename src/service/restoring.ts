/** Accepts a log that lost its end: gives up what HEADS_COPY knows of it, and records that in the log of SYSTEM_TENANT. */
import { hash } from "node:crypto";
import type { Recorder } from "../access/administration/recorder.ts";
import { SYSTEM_TENANT } from "../access/tenant.ts";
import type { AcceptedRestore, AcceptRestore } from "../api/http/dependencies.ts";
import { RESTORED_HEADS_NAMED_MAX } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import { encodeBase64 } from "../proof/base64.ts";
import type { KnownHead } from "../proof/known-heads.ts";
import { sameHash } from "../proof/rfc6962.ts";
import { restoredLine, sealedHead } from "../proof/sealed-head.ts";
import type { TreeSource } from "../proof/tree-source.ts";
import { recordHash } from "../views/kit/view-end.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { treeSize } from "../views/tree/queries.ts";
import { type HeadsFolder, headsText } from "./heads-folder.ts";
import { type LogEnd, troubleOfCopy } from "./log-end.ts";

export const createAcceptRestore =
  (parts: {
    /** Undefined without HEADS_COPY. */
    readonly folder: HeadsFolder | undefined;
    readonly log: LogReader;
    readonly views: ViewStore;
    readonly trees: Pick<TreeSource, "root" | "position">;
    /** Its appender takes the record although the log is behind. */
    readonly recorder: Pick<Recorder, "carryOut">;
    readonly lookAgain: LogEnd["look"];
  }): AcceptRestore =>
  async ({ by, reason }): Promise<AcceptedRestore> => {
    const { folder, log, trees, recorder, lookAgain } = parts;
    const trouble = folder && (await troubleOfCopy(log, folder));
    if (folder === undefined || trouble === undefined) return { kind: "not_behind" };
    if (trouble.id !== "heads_not_reached")
      return { kind: "unavailable", detail: trouble.detail.replace(/\.$/, "") };
    const known = await folder.read();
    if (known.end === undefined) return { kind: "not_behind" };
    const position = await trees.position();
    const last = await log.lastSequence();
    // The trees of its views show what the log still holds.
    if (position !== last) return { kind: "view_behind" };
    const { heads, lost } = await compare(parts, known.heads);
    const before = headsText(known, true);
    const details = {
      reason,
      known_sequence: known.end.sequence,
      restored_sequence: last,
      heads_given_up: lost.length,
      heads: lost.slice(0, RESTORED_HEADS_NAMED_MAX),
      known_heads_sha256: hash("sha256", before),
    };
    const result = await recorder.carryOut({
      by,
      action: { type: "system.restored", tenant: SYSTEM_TENANT, details },
      work: async (sequence) => {
        const message = await log.read(sequence);
        if (!message) return { kind: "unavailable", detail: "the log does not return the record of it" };
        await folder.replace({ end: { sequence, record: recordHash(message.payload) }, heads, before });
        return { kind: "written" };
      },
    });
    if (result.kind !== "written")
      return { kind: "unavailable", detail: result.kind === "unavailable" ? result.detail : result.kind };
    await lookAgain();
    return { kind: "accepted", ...details };
  };

/** Which heads the trees extend, and which they do not. */
const compare = async (
  { trees, views }: { readonly trees: Pick<TreeSource, "root">; readonly views: ViewStore },
  known: ReadonlyMap<string, KnownHead>,
) => {
  const heads = new Map<string, KnownHead>();
  const lost: { tenant: string; size: number; root: string; restored_size: number }[] = [];
  for (const [tenant, head] of known) {
    const checkpoint = head.note === undefined ? undefined : sealedHead(head.note);
    const root = checkpoint && (await trees.root(tenant, checkpoint.size));
    if (!checkpoint || (root && sameHash(root, checkpoint.root))) {
      heads.set(tenant, head);
      continue;
    }
    const restored_size = await treeSize(views, tenant);
    const { size, extensions = [] } = checkpoint;
    lost.push({ tenant, size, root: encodeBase64(checkpoint.root), restored_size });
    heads.set(tenant, { extensions: [...extensions, restoredLine(restored_size, checkpoint)] });
  }
  return { heads, lost };
};
