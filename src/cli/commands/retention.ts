/** `prooftrail retention`: how long events are shown, by tier and law, and why. */

import { answering } from "../api.ts";
import type { CommandSpec, OptionSpec } from "../command.ts";
import { asRecord, asRecords, type JsonRecord, shown } from "../json.ts";
import { tableColumns } from "../output.ts";
import { queryFrom } from "../query.ts";
import { jsonOption, SERVICE_OPTIONS } from "../shared-options.ts";
import { type Column, createTable, detailLines } from "../table.ts";

const TENANT: OptionSpec = { flag: "--tenant", value: "name", description: "of this tenant" };

const COLUMNS: readonly Column<JsonRecord>[] = [
  { title: "TIER", value: (row) => shown(row.risk_tier) },
  { title: "LAW", value: (row) => shown(row.legal_basis) || "any" },
  { title: "DAYS", value: (row) => shown(row.days) || "kept", isRight: true },
  { title: "WHY", value: (row) => reasonText(row.reason) },
];

const reasonText = (reason: unknown): string => {
  const { text, clause } = asRecord(reason) ?? {};
  return clause === null || clause === undefined ? shown(text) : `${shown(text)} (${shown(clause)})`;
};

export const RETENTION: CommandSpec = {
  name: "retention",
  summary: "How long events are shown, by tier and law, and why",
  options: [TENANT, ...SERVICE_OPTIONS, jsonOption()],
  examples: [{ says: "of one tenant", command: "prooftrail retention --tenant acme" }],
  run: answering(
    (input) => ({ path: "/v1/retention", query: queryFrom(input, [TENANT]) }),
    (data, { out }) => {
      const details = [
        ["tenant", shown(data.tenant)],
        ["policy", shown(data.policy)],
        ["set at", shown(data.updated_at) || undefined],
        ["set by", shown(data.updated_by) || undefined],
      ] as const;
      const width = tableColumns(out);
      return `${detailLines(details, width)}\n${createTable(COLUMNS, width).lines(asRecords(data.ages))}`;
    },
  ),
};
