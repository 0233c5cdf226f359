/** The bias audits of an asset; there may be any number. */
import { expect, test } from "bun:test";
import { findBiasAudits } from "../../src/views/audits/queries.ts";
import { AUDIT_ROWS_PER_READ } from "../../src/views/kit/limits.ts";
import { project } from "./coverage-view.ts";
import { messageOf, simpleEvent } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

test.each(["of one name", "of a name each"])(
  "requests get a turn while audits %s are read, and all audits are found",
  async (named) => {
    const count = 4 * AUDIT_ROWS_PER_READ;
    const messages = Array.from({ length: count }, (_, index) =>
      messageOf(index + 1, {
        event: simpleEvent(`evt_${index}`, {
          event_type: "assessment.impact_assessment_completed",
          timestamp: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
          metadata: {
            assessment_type: "bias_audit",
            assessment_id: named === "of one name" ? "audit" : `audit ${index}`,
          },
        }),
      }),
    );
    await using database = createSqliteDatabase();
    await using store = database.connect();
    await project(store, messages, 1000);
    let turns = 0;
    const countTurn = () => {
      turns++;
      counting = setImmediate(countTurn);
    };
    let counting = setImmediate(countTurn);
    const found = await findBiasAudits(store, "acme", "credit_model");
    clearImmediate(counting);
    expect(found).toHaveLength(count);
    expect(turns).toBeGreaterThanOrEqual(4);
  },
);
