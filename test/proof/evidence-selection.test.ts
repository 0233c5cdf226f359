/** The limits of a bundle, tested on views that only say how much there is. */
import { expect, test } from "bun:test";
import type { EvidenceFilter } from "../../src/api/evidence/found.ts";
import { selectRecords } from "../../src/api/evidence/selection.ts";
import { isRefusal } from "../../src/api/http/answers.ts";
import { STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { EVENT_BYTES_MAX, EVIDENCE_BYTES_MAX, EVIDENCE_RECORDS_MAX } from "../../src/limits.ts";
import { EMPTY_ROOT } from "../../src/proof/rfc6962.ts";
import { formatCheckpoint } from "../../src/proof/tlog-checkpoint.ts";
import { ASSETS } from "../../src/views/assets/tables.ts";
import { VIEWS, type ViewStore } from "../../src/views/store/view-store.ts";

const nothingRead = () => Promise.reject(new Error("no record is read before the bounds are known"));

/** The views of a tenant with this many events, each with this text, under a signed head. */
const select = (filter: EvidenceFilter, count: number, event = "{}") => {
  const load: ViewStore["load"] = async (table, keys) =>
    table.name === VIEWS.name
      ? keys.map(({ name }) => ({ name: name ?? "", position: count }))
      : table.name === ASSETS.name
        ? []
        : [{ tenant: "*", owner: "acme", size: count, last_sequence: count }];
  const nothing = () => {
    throw new Error("no whole table is read");
  };
  return selectRecords(
    {
      views: {
        position: async () => count,
        load,
        select: async ({ params }) => {
          const [after, upTo, rowsMax] = params.slice(-3).map(Number);
          const length = Math.min(rowsMax ?? 0, (upTo ?? 0) - (after ?? 0));
          return Array.from({ length }, (_, index) => {
            const sequence = (after ?? 0) + index + 1;
            const names = { event_id: `evt_${sequence}`, tenant: "acme", request_id: "" };
            return { ...names, sequence, received_at: "2026-11-20T10:00:00.000Z", event };
          });
        },
        snapshot: (_view, visit) => visit({ position: count, load, select: async () => [], rows: nothing }),
      },
      log: {
        lastSequence: async () => count,
        read: nothingRead,
      },
      checkpoints: {
        last: async () => ({
          note: `${formatCheckpoint({ origin: "prooftrail/acme", size: count, root: EMPTY_ROOT })}\n`,
          revision: 1,
        }),
      },
      rules: STANDARD_RULES,
      now: () => new Date("2026-11-20T10:00:00Z"),
    },
    { tenant: "acme", filter, waitMs: 0 },
  );
};

/** The text of the refusal; undefined if there is none. */
const refusal = async (...asked: Parameters<typeof select>): Promise<string | undefined> => {
  const result = await select(...asked);
  return isRefusal(result) && result.code === "evidence_too_large" ? result.details.detail : undefined;
};

const ADVICE =
  "Split it by asset_id, correlation_id, decision_id or subject_hash, or into shorter periods with from and to.";

test("a bundle with too many records is refused, and the error says how to ask for less", async () => {
  const count = EVIDENCE_RECORDS_MAX + 1;
  expect(await refusal({}, count)).toContain(ADVICE);
  expect(await refusal({ assetIds: ["credit_model"] }, count)).toContain(ADVICE);
  expect(await refusal({ from: "2026-01-01T00:00:00Z" }, count)).toContain(ADVICE);
});

test("a bundle with records that are too large together is refused", async () => {
  const event = JSON.stringify("x".repeat(EVENT_BYTES_MAX - 2));
  const count = Math.ceil(EVIDENCE_BYTES_MAX / EVENT_BYTES_MAX) + 1;
  expect(await refusal({ assetIds: ["credit_model"] }, count, event)).toContain(ADVICE);
});

/** How often others had a turn meanwhile, on views that answer at once. */
const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  let [turns, isOver] = [0, false];
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return turns;
};

test("other requests get a turn between the pages of selected records", async () => {
  const pages = 20;
  const turns = await turnsDuring(() => refusal({ assetIds: ["credit_model"] }, pages * 500));
  expect(turns).toBeGreaterThanOrEqual(pages - 1);
});
