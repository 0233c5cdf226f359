/**
 * Whether the log still has its known end: what the views have seen, and what the heads in HEADS_COPY cover. A log restored from an older copy
 * lacks both. Nothing is acknowledged into it: new records would take the places of the lost ones.
 */
import { hash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Recorder } from "../access/administration/recorder.ts";
import { SYSTEM_TENANT } from "../access/tenant.ts";
import type { AcceptedRestore, AcceptRestore } from "../api/http/dependencies.ts";
import { AWAY_RETRY_MS, LOG_END_MS, READINESS_PART_MS_MAX, RESTORED_HEADS_NAMED_MAX } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { encodeBase64 } from "../proof/base64.ts";
import type { KnownEnd, KnownHead, TreeSource } from "../proof/ports.ts";
import { sameHash } from "../proof/rfc6962.ts";
import { restoredLine, sealedHead } from "../proof/sealed-head.ts";
import type { Logger } from "../telemetry/logger.ts";
import { recordHash } from "../views/kit/view-end.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { treeSize } from "../views/tree/queries.ts";
import { inTime, loop } from "./background.ts";
import { DamagedHeadsError, type HeadsFolder, headsText } from "./heads-folder.ts";
import { blocking, HEALTH_REASONS, only, sentences, type Trouble } from "./health-reasons.ts";

/** A leader that was just elected may not have applied the last records yet. */
const CONFIRM_MS = 500;

export type LogEnd = ReturnType<typeof watchLogEnd>;

/** Looks repeatedly until it is disposed, and at once after a reconnect: the broker may have come back with another log. */
export const watchLogEnd = (dependencies: {
  readonly connection: Pick<BrokerConnection, "isConnected" | "onChange">;
  /** Why the views are not of this log. Rejects if log or views do not answer. */
  readonly viewReasons: () => Promise<readonly string[]>;
  /** The same of HEADS_COPY. Rejects if the log does not answer, or the folder cannot be read. */
  readonly copyTrouble: () => Promise<Trouble | undefined>;
  readonly logger: Pick<Logger, "info" | "error">;
}) => {
  const { connection, viewReasons, copyTrouble, logger } = dependencies;
  let ofViews: readonly string[] = [];
  let ofCopy: Trouble | undefined;
  let isKnown = false;
  let told = "";
  /** Changes with the connection: what was asked before says nothing about the log that is there after it. */
  let epoch = 0;
  /** What is known against appending. */
  let known: readonly Trouble[] = [];
  const isBehind = (): boolean => known.length > 0;
  /** Views that are away, or a log that does not answer, change nothing. Views may be away for long; events are accepted meanwhile. */
  const ask = async () => {
    const [views = ofViews, copy] = await Promise.all([
      inTime(viewReasons(), READINESS_PART_MS_MAX),
      copyTrouble().then(
        (trouble) => ({ trouble }),
        () => undefined,
      ),
    ]);
    return { views, copy: copy ? copy.trouble : ofCopy, isAnswered: copy !== undefined };
  };
  const look = async (): Promise<void> => {
    if (!connection.isConnected()) return;
    const asked = epoch;
    let seen = await ask();
    if (!isBehind() && (seen.views.length > 0 || seen.copy)) {
      // Nothing is accepted until that is clear.
      isKnown = false;
      await delay(CONFIRM_MS);
      seen = await ask();
    }
    if (epoch !== asked) return;
    [ofViews, ofCopy] = [seen.views, seen.copy];
    known = [...(ofCopy ? [ofCopy] : []), ...ofViews.map((reason) => blocking("views_ahead", reason))];
    isKnown ||= seen.isAnswered;
    const detail = known.map(sentences).join(" ");
    if (detail === told) return;
    told = detail;
    if (detail === "") logger.info("the log has its known end again");
    else logger.error("the log may have lost its end or be another log, nothing is accepted", { detail });
  };
  const running = new AsyncDisposableStack();
  running.use(
    connection.onChange(() => {
      isKnown = false;
      epoch++;
    }),
  );
  const restMs = (): number => (isKnown ? LOG_END_MS : AWAY_RETRY_MS);
  running.use(loop({ look, restMs, connection }));
  return {
    troubles: () => [...only(!isKnown, blocking("log_end_unknown", END_UNKNOWN)), ...known],
    isBehind,
    /** Whether the end was checked since the broker last connected. */
    isKnown: () => isKnown,
    /** Looks now. Never rejects. */
    look,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

/** Why nothing may be appended or signed, by what HEADS_COPY says; undefined if it may. Rejects if folder or log do not answer. */
export const troubleOfCopy = async (
  log: Pick<LogReader, "lastSequence" | "read">,
  folder: Pick<HeadsFolder, "read">,
): Promise<Trouble | undefined> => {
  try {
    const { end } = await folder.read();
    if (end === undefined || (await holds(log, end))) return undefined;
    const last = await log.lastSequence();
    const seen =
      last < end.sequence
        ? `The log ends at record ${last}, and heads in HEADS_COPY cover it up to record ${end.sequence}`
        : `Heads in HEADS_COPY cover a different record ${end.sequence} than the log holds`;
    const detail = `${seen}: it lost its end or is another log.`;
    return blocking("heads_not_reached", detail, HEALTH_REASONS.heads_not_reached.advice);
  } catch (error) {
    if (!(error instanceof DamagedHeadsError)) throw error;
    return blocking(
      "heads_copy_unavailable",
      `${error.message}.`,
      "Restore this file from a copy of the folder. If there is none, check that the log is the newest one you have, and move the file out of the folder: this gives up the heads that only it holds.",
    );
  }
};

const holds = async (
  log: Pick<LogReader, "lastSequence" | "read">,
  { sequence, record }: KnownEnd,
): Promise<boolean> => {
  if (sequence > (await log.lastSequence())) return false;
  const message = await log.read(sequence);
  return message !== undefined && recordHash(message.payload) === record;
};

export const END_UNKNOWN = HEALTH_REASONS.log_end_unknown.summary;

/** Accepts a log that lost its end: gives up what HEADS_COPY knows of it, and records that in the log of SYSTEM_TENANT. */
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
