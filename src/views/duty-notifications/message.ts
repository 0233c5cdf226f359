/** The message about one transition of an obligation, as streams/README.md describes it. Pure. */
import { obligationSubject } from "../../../streams/subjects.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import type { Transition } from "../../law/obligations/transitions.ts";
import { obligationEntry } from "../cases/registers/obligations.ts";
import { type Row, rowText } from "../store/tables.ts";

/** `row`: a row of OBLIGATIONS. `at`: when this was found, which also tells equal transitions apart; `atKey`: the same as text that sorts by time. */
export const messageAbout = (
  row: Row,
  transition: Transition,
  { rules, at, atKey }: { readonly rules: Rules; readonly at: string; readonly atKey: string },
) => {
  const tenant = rowText(row, "tenant");
  const [assetId, rule] = [rowText(row, "asset_id"), rowText(row, "rule")];
  const {
    extensions: _,
    ruleset_version: __,
    ...entry
  } = { extensions: 0, ...obligationEntry(row, rules, atKey) };
  const { started_sequence, stopped_sequence, ...shown }: Readonly<Record<string, unknown>> = entry;
  const payload = {
    tenant,
    obligation_id: row.obligation_id,
    transition,
    ...shown,
    started_by: { event_id: row.started_by, sequence: started_sequence },
    stopped_by: row.stopped_by === null ? null : { event_id: row.stopped_by, sequence: stopped_sequence },
    at,
  };
  return {
    owner: tenant,
    transition,
    subject: obligationSubject({ tenant, assetId, rule, transition }),
    payload: JSON.stringify(payload),
  };
};
